"""Lay the server in the wheel out as the official image has it: bin, lib and configs.

Usage: python3 lay_out.py FOLDER
"""

import lzma
import shutil
import sys
from pathlib import Path

import milvus

_STATE = "/var/lib/milvus"


def main(folder: Path) -> None:
    """Unpack the programs and write milvus.yaml."""
    for packed in (Path(milvus.__file__).parent / "data" / "bin").glob("*.lzma"):
        part = "bin" if packed.stem == "milvus" else "lib"
        program = folder / part / packed.stem
        program.parent.mkdir(parents=True, exist_ok=True)
        with lzma.open(packed) as source, program.open("wb") as target:
            shutil.copyfileobj(source, target)
        program.chmod(0o755)

    config = milvus.MilvusServerConfig()
    config.base_data_dir = str(folder)
    config.set("etcd_data_dir", f"{_STATE}/etcd")
    config.set("etcd_log_path", "stdout")
    config.set("local_storage_dir", f"{_STATE}/data")
    config.set("rocksmq_data_dir", f"{_STATE}/rocksmq")
    config.set("system_log_path", "")  # to the standard output
    config.write_config()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
