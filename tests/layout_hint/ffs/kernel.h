/* What kernel.c, for FreeBSD's headers, and driver.c, for the host's, share. */

#ifndef GROUPS
#define	GROUPS		5
#define	FPG		2048	/* fragments of a group */
#define	IPG		512	/* inodes of a group */
#define	FRAGMENT	2048
#define	METASPACE	0	/* fragments for directories, of a group's data */
#define	HOT_BLOCKS	8	/* of a file that are placed */
#endif
#define	BLOCK		(8 * FRAGMENT)
#define	ROOT		2	/* the root's inode */

/* driver.c */
void		 die(const char *);
unsigned	 draw(void);
void		*zeroed(unsigned long);

/* kernel.c */
extern long	 outcomes[8];
void		 make(int);
int		 hook(int);
int		 set_region(unsigned long, unsigned long, unsigned, int);
void		 swap_region(int);
int		 in_region(long, long);
int		 is_metadata(int, int);
long		 create(long, int, int);
long		 extend(long, long, int);
long		 regrow(long, long, long, int, int);
void		 forget(long);
int		 tell(int, long *);
void		 shrink(long, long, int);
void		 drop(long, long, int);
void		 check(const unsigned char *, const unsigned char *);
