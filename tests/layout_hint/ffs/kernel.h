/*
 * What kernel.c, for FreeBSD's headers, and the programs, for the host's, share.
 */

#ifndef GROUPS
#define	GROUPS		5
#define	FPG		2048	/* fragments of a group */
#define	IPG		512	/* inodes of a group */
#define	FRAGMENT	2048
#define	METASPACE	0	/* fragments for directories, of a group's data */
#define	HOT_BLOCKS	16	/* of a file that are placed */
#endif
#define	BLOCK		(8 * FRAGMENT)
#define	ROOT		2	/* the root's inode */
#define	DIRECT		12	/* blocks of a file before the indirect one */
#define	CLUSTER		7	/* blocks that are moved together */

/* driver.c, setup.c, crash.c: what the kernel takes for a random number */
unsigned	 draw(void);

/* host.c */
extern long	 step;		/* of a program: where it dies */
extern unsigned	 state;		/* of under() */
void		 die(const char *);
void		*zeroed(unsigned long);
unsigned	 next(unsigned);	/* random number of recordings */
unsigned	 under(unsigned);	/* random number below another one */

/* kernel.c */
extern long	 outcomes[8];
extern void	*processor[1];
void		 make(int);
int		 hook(int);
int		 set_region(unsigned long, unsigned long, unsigned, int);
void		 swap_region(int);
int		 in_region(long, long);
int		 is_metadata(int, int);
long		 create(long, int, int);
long		 extend(long, long, int);
long		 address(long, long);
int		 cluster(long, long, int);
void		 forget(long);
int		 tell(int, long *);
int		 shrink(long, long, int);
void		 discard(long, long, int);
void		 drop(long, long, int);
void		 set_quota(int, long);
void		 take_snapshot(void);
void		 expunge(long, long, int);
void		 soft_updates(void (*)(int, long, int));
int		 taken(int, long);
int		 has_room(int, int);
void		 region_used(unsigned long *, unsigned long *);
const void	*on_disk(int, unsigned long *, unsigned long *);
void		 check(const unsigned char *, const unsigned char *);
