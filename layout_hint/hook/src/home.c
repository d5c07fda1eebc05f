/*-
 * SPDX-License-Identifier: BSD-2-Clause
 *
 * What the home in Rust needs to know of the core's private structures.
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
