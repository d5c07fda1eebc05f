//! The TLS configuration: a certificate and its key.

use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, DEFAULT_VERSIONS};

/// A configuration for a certificate with its chain, and its key, both as PEM.
///
/// # Errors
///
/// If they are not a certificate and its key.
pub fn config(certificate: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>, String> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
    let chain = chain.map_err(|error| error.to_string())?;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| error.to_string())?;
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_protocol_versions(DEFAULT_VERSIONS);
    let builder = builder.map_err(|error| error.to_string())?.with_no_client_auth();
    let config = builder.with_single_cert(chain, key).map_err(|error| error.to_string())?;
    Ok(Arc::new(config))
}
