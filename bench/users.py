"""Has a part measured by a user without privileges: the daemon is that user too, and mounts go through fusermount3."""

import os
import shutil
import subprocess
from pathlib import Path

from results import Results
from subjects import Unavailable

HERE = Path(__file__).resolve().parent
NUMBER, GROUP = 3001, 3101
# In a mount namespace of its own everybody can open /dev/fuse, as on most systems, and the user has a name.
BECOME = """
mount -t tmpfs -o dev tmpfs "$1/dev"
mknod -m 666 "$1/dev/fuse" c 10 229
mount --bind "$1/dev/fuse" /dev/fuse
mount --bind "$1/passwd" /etc/passwd
shift
exec setpriv --reuid="$0" --regid="$1" --clear-groups "${@:2}"
"""


def measure(bench, name, folder):
    """Runs `bench/run` for the part as that user and takes over what it found."""
    home = bench.scratch / "user"
    if not home.exists():
        furnish(home, bench.options.unwrite)
    place = home / "disk" if folder == bench.scratch else folder / "user"
    own(place)
    data = home / f"{name}.json"
    # What it left the last time is merged already.
    data.unlink(missing_ok=True)
    command = ["unshare", "-m", "bash", "-euc", BECOME, str(NUMBER), str(home), str(GROUP), *python(home),
               str(home / "bench/run"), *words(bench.options), "--child", "--parts", name, "--data", str(data),
               "--unwrite", str(home / "unwrite"), "--dir", str(place), "--tmpfs", str(place), "--rounds", "1"]
    environment = {"PATH": os.environ["PATH"] + ":/usr/bin:/bin", "HOME": str(home / "home"), "LC_ALL": "C.UTF-8",
                   "XDG_RUNTIME_DIR": str(home / "run"), "TMPDIR": str(home / "home"),
                   "BENCH_ASSETS": str(home / "assets")}
    process = subprocess.Popen(command, env=environment, cwd="/")
    try:
        code = process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    finally:
        bench.results.merge(name, Results.load(data))
    if code:
        raise Unavailable(f"measuring as user {NUMBER} ended with {code}")


def words(options):
    """The options that say what is measured."""
    found = [*(["--peers"] if options.peers else []), *(["--tiny"] if options.tiny else []),
             "--groups", *options.groups]
    for subject in options.only or []:
        found += ["--only", subject]
    return found


def own(folder):
    folder.mkdir(parents=True, exist_ok=True)
    os.chown(folder, NUMBER, GROUP)


def furnish(home, program):
    """What the user needs, where he can read it."""
    for missing in (name for name in ("setpriv", "unshare", "fusermount3") if not shutil.which(name)):
        raise Unavailable(f"{missing} is not installed; on Debian: apt-get install util-linux fuse3")
    home.mkdir()
    for above in (home, home.parent):
        above.chmod(0o755)
    for name in ("home", "run"):
        own(home / name)
    own(home)
    (home / "dev").mkdir()
    (home / "bench").mkdir()
    for file in HERE.iterdir():
        if file.suffix in (".py", ".sh", ".c", ".json") or file.name == "run":
            shutil.copy(file, home / "bench")
    shutil.copy(program, home / "unwrite")
    lines = Path("/etc/passwd").read_text(encoding="utf-8", errors="surrogateescape")
    (home / "passwd").write_text(f"{lines}unwrite-bench:x:{NUMBER}:{GROUP}::{home}/home:/bin/sh\n",
                                 encoding="utf-8", errors="surrogateescape")


def python(home):
    """An interpreter that the user may run: one in root's home is not."""
    for found in ("/usr/bin/python3", shutil.which("python3")):
        if found and subprocess.run(["setpriv", f"--reuid={NUMBER}", f"--regid={GROUP}", "--clear-groups", found,
                                     "-c", "pass"], cwd=home, check=False, stderr=subprocess.DEVNULL).returncode == 0:
            return [found]
    raise Unavailable("no python3 that another user may run")
