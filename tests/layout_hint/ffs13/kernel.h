/* What kernel.c, for FreeBSD's headers, and driver.c, for the host's, share. */

#define	GROUPS		5
#define	FPG		2048	/* fragments of a group */
#define	IPG		512	/* inodes of a group */
#define	BLOCK		16384
#define	FRAGMENT	2048
#define	ROOT		2	/* the root's inode */
#define	HOT_BLOCKS	8

/* driver.c */
void		 die(const char *);
unsigned	 draw(void);
void		*zeroed(unsigned long);

/* kernel.c */
extern long	 outcomes[8];
void		 make(int);
int		 hook(int);
int		 set_region(unsigned long, int);
int		 in_region(long, long);
int		 is_metadata(int, int);
long		 create(long, int, int);
long		 extend(long, long, int);
long		 regrow(long, long, long, int, int);
void		 forget(long);
int		 tell(int, long *);
void		 shrink(long, long, int);
void		 drop(long, int);
void		 check(const unsigned char *, const unsigned char *);
