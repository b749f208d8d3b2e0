package dev.doorbell.interop.shim.client;

import dev.doorbell.core.memory.SystemCall;
import dev.doorbell.core.uverbs.generated.LinuxNumbers;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Calls of Linux's libc on Unix sockets and on shared files that the JDK does not offer: who is at
 * the other end, and whether a file can become shorter. Calls return what libc returns, or minus
 * errno. For one thread.
 */
final class LinuxCalls extends LinuxNumbers {
  private static final int PATH_BYTES = 108;
  private static final int STATFS_BYTES = 128;
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  // Numbers of the calls, asm/unistd_64.h of x86 and asm-generic/unistd.h.
  private static final int WRITE = SystemCall.number(1, 64);
  private static final int CLOSE = SystemCall.number(3, 57);
  private static final int MMAP = SystemCall.number(9, 222);
  private static final int MUNMAP = SystemCall.number(11, 215);
  private static final int SOCKET = SystemCall.number(41, 198);
  private static final int SENDTO = SystemCall.number(44, 206);
  private static final int SENDMSG = SystemCall.number(46, 211);
  private static final int RECVFROM = SystemCall.number(45, 207);
  private static final int BIND = SystemCall.number(49, 200);
  private static final int LISTEN = SystemCall.number(50, 201);
  private static final int GETSOCKOPT = SystemCall.number(55, 209);
  private static final int FCNTL = SystemCall.number(72, 25);
  private static final int FTRUNCATE = SystemCall.number(77, 46);
  private static final int FSTATFS = SystemCall.number(138, 44);
  private static final int PRCTL = SystemCall.number(157, 167);
  private static final int OPENAT = SystemCall.number(257, 56);
  private static final int EPOLL_CTL = SystemCall.number(233, 21);
  private static final int PPOLL = SystemCall.number(271, 73);
  private static final int EPOLL_PWAIT = SystemCall.number(281, 22);
  private static final int ACCEPT4 = SystemCall.number(288, 242);
  private static final int EVENTFD2 = SystemCall.number(290, 19);
  private static final int EPOLL_CREATE1 = SystemCall.number(291, 20);
  private static final int PROCESS_VM_READV = SystemCall.number(310, 270);
  private static final int PROCESS_VM_WRITEV = SystemCall.number(311, 271);
  private static final int SCHED_SETATTR = SystemCall.number(314, 274);
  private static final int SCHED_GETATTR = SystemCall.number(315, 275);
  private static final int MEMFD_CREATE = SystemCall.number(319, 279);
  private static final int PIDFD_OPEN = 434;
  private static final int PIDFD_GETFD = 438;
  private static final int EPOLL_PWAIT2 = 441;

  /** {@code struct epoll_event}: events, and 64 bits of the user; packed on x86. */
  private static final long EVENT_DATA = SystemCall.IS_X86 ? 4 : 8;

  static final long EVENT_BYTES = EVENT_DATA + Long.BYTES;

  private final Arena arena = Arena.ofAuto();
  private final MemorySegment state = arena.allocate(SystemCall.STATE);
  private final MemorySegment scratch = arena.allocate(STATFS_BYTES, Long.BYTES);
  private boolean waitsExactly;

  LinuxCalls() {
    this(true);
  }

  /**
   * @param waitsExactly false as before Linux 5.11, which has no epoll_pwait2
   */
  LinuxCalls(boolean waitsExactly) {
    this.waitsExactly = waitsExactly;
  }

  private int call(int number, long a, long b, long c, long d) {
    return (int) call(number, a, b, c, d, 0, 0);
  }

  private int call(int number, long a, long b) {
    return (int) call(number, a, b, 0, 0, 0, 0);
  }

  private long call(int number, long a, long b, long c, long d, long e, long f) {
    return SystemCall.call(state, number, a, b, c, d, e, f);
  }

  /** Closes {@code file} if {@code error} is one; returns what is to be returned. */
  private int closeOn(int error, int file) {
    if (error < 0) {
      close(file);
    }
    return error < 0 ? error : file;
  }

  /** A socket that listens at {@code path}. */
  int listen(Path path, int backlog) {
    byte[] name = path.toString().getBytes(StandardCharsets.UTF_8);
    if (name.length >= PATH_BYTES) {
      return -ENAMETOOLONG;
    }
    int socket = call(SOCKET, AF_UNIX, SOCK_STREAM | NONBLOCK_CLOEXEC);
    if (socket < 0) {
      return socket;
    }
    try (Arena call = Arena.ofConfined()) {
      int family = Short.BYTES;
      MemorySegment address = call.allocate(family + PATH_BYTES, Long.BYTES);
      address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
      MemorySegment.copy(name, 0, address, ValueLayout.JAVA_BYTE, family, name.length);
      int bytes = family + name.length + 1;
      int error = call(BIND, socket, address.address(), bytes, 0);
      if (error == 0) {
        error = call(LISTEN, socket, backlog);
      }
      return closeOn(error, socket);
    }
  }

  /** The next connection, which does not block, or minus errno. */
  int accept(int listening) {
    return call(ACCEPT4, listening, 0, 0, NONBLOCK_CLOEXEC);
  }

  /** The peer's credentials from the kernel: {@code struct ucred}, process id and user id. */
  int[] peer(int socket) {
    long at = scratch.address();
    scratch.set(INT, 16, 12);
    long error = call(GETSOCKOPT, socket, SOL_SOCKET, SO_PEERCRED, at, at + 16, 0);
    return error == 0 ? new int[] {scratch.get(INT, 0), scratch.get(INT, 4)} : new int[] {0, -1};
  }

  int receive(int socket, long address, int bytes) {
    return call(RECVFROM, socket, address, bytes, MSG_DONTWAIT);
  }

  int send(int socket, long address, int bytes) {
    return call(SENDTO, socket, address, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
  }

  int write(int file, long address, int bytes) {
    return call(WRITE, file, address, bytes, 0);
  }

  /** Sends bytes, and with them a file, of which the receiver gets a descriptor. */
  int sendFile(int socket, long address, int bytes, int file) {
    long at = scratch.address();
    // struct iovec, struct cmsghdr with the descriptor, struct msghdr
    scratch.fill((byte) 0).set(LONG, 0, address);
    scratch.set(LONG, 8, bytes);
    scratch.set(LONG, 16, 20);
    scratch.set(INT, 24, SOL_SOCKET);
    scratch.set(INT, 28, SCM_RIGHTS);
    scratch.set(INT, 32, file);
    scratch.set(LONG, 56, at);
    scratch.set(LONG, 64, 1);
    scratch.set(LONG, 72, at + 16);
    scratch.set(LONG, 80, 24);
    return call(SENDMSG, socket, at + 40, MSG_DONTWAIT | MSG_NOSIGNAL, 0);
  }

  /** An eventfd, which does not block, or minus errno. */
  int eventFile() {
    return call(EVENTFD2, 0, NONBLOCK_CLOEXEC);
  }

  int epoll() {
    return call(EPOLL_CREATE1, NONBLOCK_CLOEXEC & ~0x800, 0);
  }

  /**
   * @param how {@link #WATCH}, {@link #UNWATCH} or {@link #REWATCH}
   */
  int epollControl(int epoll, int how, int file, int events) {
    scratch.set(INT, 0, events);
    scratch.set(INT, EVENT_DATA, file);
    return call(EPOLL_CTL, epoll, how, file, scratch.address());
  }

  /**
   * Waits for events of files.
   *
   * @param events has room for {@code most} of them
   */
  int epollWait(int epoll, MemorySegment events, int most, long nanos) {
    long at = scratch.address();
    scratch.set(LONG, 0, nanos / NANOS_PER_SECOND);
    scratch.set(LONG, Long.BYTES, nanos % NANOS_PER_SECOND);
    if (waitsExactly) {
      int count = call(EPOLL_PWAIT2, epoll, events.address(), most, at);
      waitsExactly = count >= 0 || count == -EINTR;
      if (waitsExactly) {
        return count;
      }
    }
    scratch.set(INT, 16, epoll);
    scratch.set(INT, 20, READABLE);
    call(PPOLL, at + 16, 1, at, 0);
    return call(EPOLL_PWAIT, epoll, events.address(), most, 0);
  }

  /** The file of an event. */
  static int fileOf(MemorySegment events, int i) {
    return events.get(ValueLayout.JAVA_INT_UNALIGNED, i * EVENT_BYTES + EVENT_DATA);
  }

  int close(int descriptor) {
    return call(CLOSE, descriptor, 0);
  }

  /**
   * Maps a part of a file for reading and writing.
   *
   * @return its address, or 0
   */
  long map(int file, long offset, long bytes) {
    return Math.max(0, call(MMAP, 0, bytes, PROT_READ_WRITE, MAP_SHARED, file, offset));
  }

  /** Opens a file for reading and writing. */
  int open(String path) {
    try (Arena call = Arena.ofConfined()) {
      long name = call.allocateFrom(path).address();
      return call(OPENAT, AT_FDCWD, name, OPEN_FLAGS, 0);
    }
  }

  /** A duplicate of a file descriptor of another process. */
  int descriptorOf(int pid, int descriptor) {
    int process = call(PIDFD_OPEN, pid, 0);
    if (process < 0) {
      return process;
    }
    int duplicate = call(PIDFD_GETFD, process, descriptor);
    close(process);
    return duplicate;
  }

  /** A new file in memory of that size, which can become neither shorter nor longer. */
  int sealedMemory(String name, long bytes) {
    try (Arena call = Arena.ofConfined()) {
      long text = call.allocateFrom(name).address();
      int file = call(MEMFD_CREATE, text, MFD_CLOEXEC_ALLOW_SEALING);
      if (file < 0) {
        return file;
      }
      int error = call(FTRUNCATE, file, bytes);
      if (error == 0) {
        error = call(FCNTL, file, F_ADD_SEALS, SEAL_SHRINK | SEAL_GROW, 0);
      }
      return closeOn(error, file);
    }
  }

  /**
   * Maps a part of a file at {@code address}, for reading and writing.
   *
   * @param how {@link #MAP_FIXED} or {@link #MAP_FIXED_NOREPLACE}
   * @return 0, or minus errno
   */
  int mapShared(long address, long bytes, int how, int file, long offset) {
    long at = call(MMAP, address, bytes, PROT_READ_WRITE, MAP_SHARED | how, file, offset);
    return at < 0 ? (int) at : 0;
  }

  /**
   * Ends a {@link #map} or a {@link #mapShared}.
   *
   * @return 0, or minus errno
   */
  int unmap(long address, long bytes) {
    return call(MUNMAP, address, bytes);
  }

  /** The seals of a file in memory ({@code F_SEAL_*}), or minus errno where it cannot have any. */
  int seals(int descriptor) {
    return call(FCNTL, descriptor, F_GET_SEALS);
  }

  /** The type of the file system that a file is of ({@code f_type} of statfs), or 0. */
  long fileSystem(int descriptor) {
    int error = call(FSTATFS, descriptor, scratch.address());
    return error < 0 ? 0 : scratch.get(LONG, 0);
  }

  /**
   * Copies from {@code address} in the process {@code pid}: two {@code struct iovec}, of this
   * process and of that one.
   *
   * @return the number of bytes, or minus errno
   */
  long readProcess(int pid, long local, long remote) {
    return call(PROCESS_VM_READV, pid, local, 1, remote, 1, 0);
  }

  /** Copies to it, in ascending order. */
  long writeProcess(int pid, long local, long remote) {
    return call(PROCESS_VM_WRITEV, pid, local, 1, remote, 1, 0);
  }

  int setTimerSlack(long nanos) {
    return call(PRCTL, PR_SET_TIMERSLACK, nanos);
  }

  /** Reads the calling thread's {@code struct sched_attr}. */
  int scheduling(long address, int bytes) {
    return call(SCHED_GETATTR, 0, address, bytes, 0);
  }

  int schedule(long address) {
    return call(SCHED_SETATTR, 0, address);
  }
}
