"""Whether a folder lies on a disk of this machine: by /proc/mounts, so on Linux alone."""

from __future__ import annotations

import os
import re
from pathlib import Path

NETWORK = frozenset(
    (
        *("afs", "beegfs", "ceph", "cifs", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2"),
        *("orangefs", "panfs", "pvfs2", "smb3", "smbfs", "wekafs"),
    )
)
LOCAL_FUSE = frozenset(["fuse.fuse-overlayfs", "fuse.overlayfs", "fuse.lxcfs", "fuse.bindfs", "fuse.mergerfs"])
"""Other file systems in user space (sshfs, gcsfuse, s3fs, JuiceFS) mostly reach over a network."""
_ESCAPE = re.compile(r"\\([0-7]{3})")


def network_file_system(folder: Path, *, mounts: str = "/proc/self/mounts") -> str | None:
    """The type of the network file system that `folder` lies on, as `nfs4`; None for a local one, or where the system
    does not say."""
    try:
        lines = Path(mounts).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        place = os.path.realpath(folder)
    except OSError:
        return None
    best, kind = "", ""
    for line in lines:
        words = line.split(" ")
        if len(words) < 3:
            continue
        at = _ESCAPE.sub(lambda found: chr(int(found[1], 8)), words[1])
        inside = place == at or place.startswith(at.rstrip("/") + "/")
        if inside and len(at) >= len(best):  # a later mount hides an earlier one
            best, kind = at, words[2]
    is_network = kind in NETWORK or (kind.startswith("fuse.") and kind not in LOCAL_FUSE)
    return kind if is_network else None
