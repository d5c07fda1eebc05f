"""The claims of Ellard and Seltzer, "NFS Tricks and Benchmarking Traps"."""

from __future__ import annotations

from birthmark.research.papers import nfs_values as values
from birthmark.research.papers.claims import Claim, Paper, between, pick
from birthmark.research.papers.nfs_measure import measure
from birthmark.research.papers.nfs_pictures import draw

PAPER = Paper(
    number="000",
    title="Ellard and Seltzer, NFS Tricks and Benchmarking Traps, FREENIX 2003",
    assumptions=(
        "Both drives are assumed in part: wd200bb and ddys36950 say of what. The outer"
        " zone of wd200bb was fitted roughly to the 5.97 s of eight readers, without metadata: with"
        " it they take 6.6.",
        "What client, network and server take for a call beside the drive was fitted to 0.5 ms,"
        " which Cursor's rate of scsi1 at 2 strides tells. Absolute rates over NFS rest on it, and"
        " so does what A19 says of 2 strides.",
        "Threads and processes of the client wake up after 0.01 ms on average, which is a guess."
        " Calls overtake others over UDP because the window is full or an answer is late.",
        "A process of the busy client that runs when a slice of time ends waits for those of the"
        " other four, as if all had the same priority; FreeBSD's is worse for who has run much.",
        "Vnodes are scattered over the table of files, which has seen all files before.",
        "Files are written one after the other into a directory of a fresh file system, and are not"
        " moved together later. FreeBSD draws the cylinder group of a directory at the top: each"
        " seed is another place.",
        "With tags the drive takes the shortest access first, aged, and knows what is in its buffer"
        " and what it is reading on. What it did is unknown, but the authors saw it change the"
        " order; one that takes requests as they come is drawn beside it.",
        "Table 1 is taken to be measured with tags on scsi1: it does not say so, but they are on by"
        " default.",
        "Looked at, and not taken: how much waiting counts for the drive's order (0.3 to 4, and"
        " first come: A9 is at 0.91 to 1.01 of N-CSCAN's time); reading on after hits, as the"
        " manual of the SCSI drive may be understood (A19 is 7 to 11 lower); and a process for each"
        " stride, as the thesis tells Table 1: Default would then read 13 to 21 MB/s, where 5 to 9"
        " are printed.",
        "A19 rests on the segments of the SCSI drive's buffer, which are not known. The manual of"
        " the same maker's Ultrastar 9ES lists 128 KB, which is taken, and 64; of its Ultrastar"
        " 18ES DIXtrac found 255.5. A19 holds with each of them (with the last it is 69, 88 and 70"
        " in three runs). They took the place of 512 KB, a guess, when it was known what comes"
        " out: with these A19 is 45, 52 and 33, and fails. So it is not counted.",
        "A12 is of the order only. Over TCP rates fall, too, to 69 % of the best, as the small"
        " table ejects files of 32 readers; the authors' were about constant.",
        "Cursors: 8 a file. What is claimed of figures is what the text says of them.",
    ),
    claims=(
        Claim(
            "A1",
            "Fig. 3",
            "elevator: the last of 8 over the first",
            "ide1 5.74, scsi1 7.24",
            "5 to 8.5",
            values.spread("elevator"),
            between(5, 8.5),
        ),
        Claim(
            "A2",
            "Fig. 3",
            "ide1, elevator: the first three done, s",
            "1.04, 1.98, 2.94",
            "20 %",
            pick(
                first="done elevator ide 1",
                second="done elevator ide 2",
                third="done elevator ide 3",
            ),
            lambda own: all(
                abs(own[label] / value - 1) <= 0.2
                for label, value in (("first", 1.04), ("second", 1.98), ("third", 2.94))
            ),
        ),
        Claim(
            "A3",
            "Fig. 3",
            "N-CSCAN: the last of 8 over the first",
            "below 1.2",
            "below 1.2",
            values.spread("n_cscan"),
            between(1, 1.2),
        ),
        Claim(
            "A4",
            "Fig. 3",
            "N-CSCAN's throughput, of the elevator's",
            "below 0.5",
            "0.6 at most",
            values.throughput,
            between(0, 0.6),
        ),
        Claim(
            "A5",
            "Fig. 3",
            "the elevator's last over N-CSCAN's first",
            "about 0.5",
            "0.4 to 0.65",
            values.slowest,
            between(0.4, 0.65),
        ),
        Claim(
            "A6",
            "Fig. 2",
            "scsi1 with tags, 2 readers and more, MB/s",
            "just above 15",
            "13 to 19",
            values.tagged,
            between(13, 19),
            reason="what the drive did with its tags is unknown; for some places and numbers of"
            " readers the assumed order is below 13",
        ),
        Claim(
            "A7",
            "Fig. 2",
            "scsi1 without tags: the least, MB/s",
            "27",
            "15 %",
            values.untagged,
            between(27 * 0.85, 27 * 1.15),
            reason="the least is that of 32 readers, who need most metadata",
        ),
        Claim(
            "A8",
            "Fig. 2",
            "one reader: tags over no tags",
            "almost equal",
            "5 %",
            values.alone,
            between(0.95, 1.05),
        ),
        Claim(
            "A9",
            "Fig. 3",
            "tags over N-CSCAN: spread and time of 8 readers",
            "fairer and slower",
            "below 1, above 1",
            values.fair,
            values.fairer_and_slower,
            reason="tags are fairer, but 8 % faster: 15.7 MB/s to N-CSCAN's 14.4. The paper leaves"
            " little room: just above 15 with tags, but N-CSCAN, which is said to be faster, less"
            " than half of 30",
        ),
        Claim(
            "A10",
            "5.1",
            "innermost over outermost quarter",
            "2:3, to 1:2",
            "0.6 to 0.8",
            values.inner,
            between(0.6, 0.8),
        ),
        Claim(
            "A11",
            "5.4",
            "NFS over local, more than one reader",
            "about 0.5",
            "0.35 to 0.65",
            values.of_local,
            between(0.35, 0.65),
            reason="with 32 readers it depends on where the table has their files, see A23",
        ),
        Claim(
            "A12",
            "Figs. 4, 5",
            "UDP over TCP, few readers and many; least over most",
            "better; gone; TCP flatter",
            "order: 0.01, 0.02 and 0.01 apart",
            values.udp,
            values.udp_for_few,
            reason="TCP's own cost is a guess, so the order is all that is claimed",
        ),
        Claim(
            "A13",
            "Fig. 6",
            "Default below Always by, %",
            "only beyond 4 readers",
            "3 % up to 4, then above 5 %",
            values.default_loses,
            values.loses_beyond_four,
        ),
        Claim(
            "A14",
            "Fig. 7",
            "large table: below Always by at most, %",
            "equal",
            "5 %",
            values.large,
            between(-5, 5),
        ),
        Claim(
            "A15",
            "6.3",
            "small table: Default below SlowDown by at most, %",
            "equal",
            "5 %",
            values.small,
            between(-5, 5),
        ),
        Claim(
            "A16",
            "Fig. 6",
            "busy client: rate, and Default's gap to Always, %",
            "lower; smaller",
            "order, 1 % apart",
            values.busy,
            lambda own: own["rate"] < 0.99 and own["gap busy"] < own["gap idle"] - 1,
            reason="fewer processes read at a time, so the table ejects fewer files; but that is"
            " little beside what the place of vnodes makes",
        ),
        Claim(
            "A17",
            "6; thesis 3.5.5",
            "calls overtaken, %",
            "6, 2, 0 at most",
            "2 to 6, below 2, 0",
            values.overtaken,
            lambda own: 2 <= own["UDP"] <= 6 and own["TCP"] < 2 and own["one iod"] == 0,
            reason="overtaking rises with readers, as the authors saw: none with one, 1.1 % with"
            " 32, where answers are late and the window is small. That is within their 6 %, but"
            " below the 2 that is asked for here. Threads run in the order in which they are woken,"
            " as in FreeBSD's run queues; what else may have held them up is not known. Threads"
            " that wake up after 0.06 ms, which is a guess, make 2 %, but with few readers as well",
        ),
        Claim(
            "A18",
            "Table 1",
            "ide1: Cursor above Default by, %",
            "50, 81, 141",
            "40 at least",
            values.gains("ide"),
            between(40, 1000),
        ),
        Claim(
            "A19",
            "Table 1",
            "scsi1: Cursor above Default by, %",
            "62, 81, 72",
            "40 at least",
            values.gains("scsi"),
            between(40, 1000),
            fitted=True,
            reason="the segments of the drive's buffer were given another size when it had failed,"
            " and at 2 strides the cost of a call was fitted to it",
        ),
        Claim(
            "A20",
            "Table 1",
            "Default over its printed rates",
            "1",
            "35 %",
            values.defaults,
            between(0.65, 1.35),
            reason="ide1 at 8 strides: the assumed drive still finds what it has read on, 256 KB at"
            " each place; one with 16 segments of 128 KB is at 1.17. How many the real one has is"
            " not known",
        ),
        Claim(
            "A21",
            "thesis 5.2",
            "calls in order within 5 and 10 ms, %",
            "all",
            "99 at least",
            lambda own: {"5 ms": own["in order 5"], "10 ms": own["in order 10"]},
            between(99, 100),
        ),
        Claim(
            "A22",
            "thesis 5.2",
            "Default's count, 5 and 10 % overtaken",
            "10 to 20",
            "7 to 25",
            lambda own: {"5 %": own["count 5"], "10 %": own["count 10"]},
            between(7, 25),
            reason="neighbours swapped in every tenth call break three calls each",
        ),
        Claim(
            "A23",
            "thesis 5.6",
            "the small table costs 32 readers, %",
            "up to 20",
            "10 at least",
            values.busy_server,
            between(10, 100),
        ),
    ),
    measure=measure,
    draw=draw,
)
