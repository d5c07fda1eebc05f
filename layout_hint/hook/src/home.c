/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * Sizes of the core's private structures for the home in Rust.
 */
#include "bm_sync.h"

size_t	bm_home_hook_size(void);
size_t	bm_home_sync_size(void);

size_t
bm_home_hook_size(void)
{
	return (sizeof(struct bm_hook));
}

size_t
bm_home_sync_size(void)
{
	return (sizeof(struct bm_sync));
}
