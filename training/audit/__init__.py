"""Audits: served predictions compared with the outcomes in a later trace."""
