"""Write captures: the operations table as a pcap file that any decoder of NFS reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from birthmark.data.common.durable import output
from birthmark_native import CaptureWriter
from birthmark_native.results import Written


def write_capture(
    batches: Iterable[pa.RecordBatch], path: str | Path, *, cut_data: bool = False
) -> Written:
    """Write operations as a capture of NFS version 3: classic pcap, Ethernet, IPv4, TCP or UDP.

    A row becomes a call at its ``time`` and, if it has one, a reply at its ``reply_time``. Values
    missing in the table are zero, above all file data. With ``cut_data`` file data is cut off as by
    a snapshot length: packets keep their lengths, the file is a hundredth as large, and no column
    is lost. Rows of other versions of NFS are left out, and counted.

    A host that is an IPv4 address keeps it. A number, as in anonymized text, becomes that address
    of 10.0.0.0/8, and any other host gets one from the end of that network. Retransmissions follow
    the first message at once, since the table does not have their times.

    ``batches`` are of the operations table, in about the order of their replies. The file appears
    whole or not at all. Raises ``ValueError`` if a column that has no nulls is missing or one
    is of another type, and ``OSError`` if the file cannot be written. Others may be missing.
    """
    with output(Path(path)) as temporary:
        writer = CaptureWriter(str(temporary), cut_data)
        for batch in batches:
            writer.write(batch)
        return writer.finish()
