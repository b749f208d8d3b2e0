package dev.doorbell.interop.shim.client;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Calls of Linux's libc on Unix sockets and on shared files that the JDK does not offer: who is at
 * the other end, and whether a file can become shorter. Calls return what libc returns, or minus
 * errno. For one thread.
 */
@SuppressWarnings("restricted")
final class LinuxCalls {
  static final int EAGAIN = 11;
  static final int EINTR = 4;
  static final short POLLIN = 1;
  static final short POLLOUT = 4;

  /** Bytes of {@code struct pollfd}: descriptor, events, returned events. */
  static final int POLLFD_BYTES = 8;

  private static final int AF_UNIX = 1;
  private static final int SOCK_STREAM = 1;
  private static final int NONBLOCK_CLOEXEC = 0x800 | 0x80000;
  private static final int SOL_SOCKET = 1;
  private static final int SO_PEERCRED = 17;
  private static final int MSG_DONTWAIT = 0x40;
  private static final int MSG_NOSIGNAL = 0x4000;

  /** {@code O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC}. */
  private static final int OPEN_FLAGS = 2 | 0x100 | NONBLOCK_CLOEXEC;

  private static final int F_ADD_SEALS = 1033;
  private static final int F_GET_SEALS = 1034;
  static final int SEAL_SHRINK = 2;
  private static final int SEAL_GROW = 4;
  private static final int MFD_CLOEXEC_ALLOW_SEALING = 1 | 2;
  private static final int PATH_BYTES = 108;
  private static final int STATFS_BYTES = 128;
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private static final MethodHandle SOCKET = find("socket", INT, INT, INT, INT);
  private static final MethodHandle BIND = find("bind", INT, INT, LONG, INT);
  private static final MethodHandle LISTEN = find("listen", INT, INT, INT);
  private static final MethodHandle ACCEPT = find("accept4", INT, INT, LONG, LONG, INT);
  private static final MethodHandle GETSOCKOPT = find("getsockopt", INT, INT, INT, INT, LONG, LONG);
  private static final MethodHandle RECV = find("recv", LONG, INT, LONG, LONG, INT);
  private static final MethodHandle SEND = find("send", LONG, INT, LONG, LONG, INT);
  private static final MethodHandle WRITE = find("write", LONG, INT, LONG, LONG);
  private static final MethodHandle PPOLL = find("ppoll", INT, LONG, LONG, LONG, LONG);
  private static final MethodHandle CLOSE = find("close", INT, INT);
  private static final MethodHandle FSTATFS = find("fstatfs", INT, INT, LONG);
  private static final MethodHandle OPEN = variadic(2, "open", INT, LONG, INT);
  private static final MethodHandle FCNTL = variadic(2, "fcntl", INT, INT, INT);

  // Of linux/unistd.h; libc has functions for them from 2.36 on, or none.
  private static final long PIDFD_OPEN = 434;
  private static final long PIDFD_GETFD = 438;
  private static final MethodHandle SYSCALL = variadic(1, "syscall", LONG, LONG, LONG, LONG, LONG);

  private static final MethodHandle MEMFD = find("memfd_create", INT, LONG, INT);
  private static final MethodHandle FTRUNCATE = find("ftruncate", INT, INT, LONG);
  private static final MethodHandle SEAL = variadic(2, "fcntl", INT, INT, INT, INT);

  private static final int PROT_READ_WRITE = 3;

  /** {@code MAP_SHARED | MAP_NORESERVE}, and what says that the address is meant. */
  private static final int MAP_SHARED = 1 | 0x4000;

  static final int MAP_FIXED = 0x10;
  static final int MAP_FIXED_NOREPLACE = 0x100000;
  private static final MethodHandle MMAP = find("mmap", LONG, LONG, LONG, INT, INT, INT, LONG);
  private static final MethodHandle MUNMAP = find("munmap", INT, LONG, LONG);

  private final Arena arena = Arena.ofAuto();
  private final MemorySegment state = arena.allocate(STATE);
  private final MemorySegment scratch = arena.allocate(STATFS_BYTES, Long.BYTES);

  private static MethodHandle find(String name, MemoryLayout result, MemoryLayout... arguments) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(name),
        FunctionDescriptor.of(result, arguments),
        Linker.Option.captureCallState("errno"));
  }

  /** A function of {@code fixed} arguments, and those behind them. */
  private static MethodHandle variadic(
      int fixed, String name, MemoryLayout result, MemoryLayout... arguments) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(name),
        FunctionDescriptor.of(result, arguments),
        Linker.Option.captureCallState("errno"),
        Linker.Option.firstVariadicArg(fixed));
  }

  /** A call of a C function; throws nothing but what the JVM itself throws. */
  @FunctionalInterface
  private interface Call {
    long run() throws Throwable;
  }

  private int result(Call call) {
    return (int) longResult(call);
  }

  private long longResult(Call call) {
    try {
      long returned = call.run();
      return returned >= 0 ? returned : -(int) ERRNO.get(state, 0L);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
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
      return -36; // ENAMETOOLONG
    }
    int socket =
        result(() -> (int) SOCKET.invokeExact(state, AF_UNIX, SOCK_STREAM | NONBLOCK_CLOEXEC, 0));
    if (socket < 0) {
      return socket;
    }
    try (Arena call = Arena.ofConfined()) {
      int family = Short.BYTES;
      MemorySegment address = call.allocate(family + PATH_BYTES, Long.BYTES);
      address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
      MemorySegment.copy(name, 0, address, ValueLayout.JAVA_BYTE, family, name.length);
      int bytes = family + name.length + 1;
      int error = result(() -> (int) BIND.invokeExact(state, socket, address.address(), bytes));
      if (error == 0) {
        error = result(() -> (int) LISTEN.invokeExact(state, socket, backlog));
      }
      return closeOn(error, socket);
    }
  }

  /** The next connection, which does not block, or minus errno. */
  int accept(int listening) {
    return result(() -> (int) ACCEPT.invokeExact(state, listening, 0L, 0L, NONBLOCK_CLOEXEC));
  }

  /** The peer's credentials from the kernel: {@code struct ucred}, process id and user id. */
  int[] peer(int socket) {
    long at = scratch.address();
    scratch.set(INT, 16, 12);
    int error =
        result(
            () ->
                (int) GETSOCKOPT.invokeExact(state, socket, SOL_SOCKET, SO_PEERCRED, at, at + 16));
    return error == 0 ? new int[] {scratch.get(INT, 0), scratch.get(INT, 4)} : new int[] {0, -1};
  }

  int receive(int socket, long address, int bytes) {
    return result(
        () -> (long) RECV.invokeExact(state, socket, address, (long) bytes, MSG_DONTWAIT));
  }

  int send(int socket, long address, int bytes) {
    int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    return result(() -> (long) SEND.invokeExact(state, socket, address, (long) bytes, flags));
  }

  int write(int file, long address, int bytes) {
    return result(() -> (long) WRITE.invokeExact(state, file, address, (long) bytes));
  }

  int poll(long descriptors, int count, long nanos) {
    scratch.set(LONG, 0, nanos / NANOS_PER_SECOND);
    scratch.set(LONG, Long.BYTES, nanos % NANOS_PER_SECOND);
    return result(
        () -> (int) PPOLL.invokeExact(state, descriptors, (long) count, scratch.address(), 0L));
  }

  int close(int descriptor) {
    return result(() -> (int) CLOSE.invokeExact(state, descriptor));
  }

  /**
   * Maps a part of a file for reading and writing.
   *
   * @return its address, or 0
   */
  long map(int file, long offset, long bytes) {
    long at =
        longResult(
            () ->
                (long)
                    MMAP.invokeExact(state, 0L, bytes, PROT_READ_WRITE, MAP_SHARED, file, offset));
    return Math.max(0, at);
  }

  /** Opens a file for reading and writing. */
  int open(String path) {
    try (Arena call = Arena.ofConfined()) {
      long name = call.allocateFrom(path).address();
      return result(() -> (int) OPEN.invokeExact(state, name, OPEN_FLAGS));
    }
  }

  /** A duplicate of a file descriptor of another process. */
  int descriptorOf(int pid, int descriptor) {
    int process = result(() -> (long) SYSCALL.invokeExact(state, PIDFD_OPEN, (long) pid, 0L, 0L));
    if (process < 0) {
      return process;
    }
    int duplicate =
        result(
            () ->
                (long)
                    SYSCALL.invokeExact(state, PIDFD_GETFD, (long) process, (long) descriptor, 0L));
    close(process);
    return duplicate;
  }

  /** A new file in memory of that size, which can become neither shorter nor longer. */
  int sealedMemory(String name, long bytes) {
    try (Arena call = Arena.ofConfined()) {
      long text = call.allocateFrom(name).address();
      int file = result(() -> (int) MEMFD.invokeExact(state, text, MFD_CLOEXEC_ALLOW_SEALING));
      if (file < 0) {
        return file;
      }
      int error = result(() -> (int) FTRUNCATE.invokeExact(state, file, bytes));
      if (error == 0) {
        int seals = SEAL_SHRINK | SEAL_GROW;
        error = result(() -> (int) SEAL.invokeExact(state, file, F_ADD_SEALS, seals));
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
    return result(
        () ->
            (long)
                        MMAP.invokeExact(
                            state, address, bytes, PROT_READ_WRITE, MAP_SHARED | how, file, offset)
                    == address
                ? 0L
                : -1L);
  }

  /**
   * Ends a {@link #map} or a {@link #mapShared}.
   *
   * @return 0, or minus errno
   */
  int unmap(long address, long bytes) {
    return result(() -> (int) MUNMAP.invokeExact(state, address, bytes));
  }

  /** The seals of a file in memory ({@code F_SEAL_*}), or minus errno where it cannot have any. */
  int seals(int descriptor) {
    return result(() -> (int) FCNTL.invokeExact(state, descriptor, F_GET_SEALS));
  }

  /** The type of the file system that a file is of ({@code f_type} of statfs), or 0. */
  long fileSystem(int descriptor) {
    int error = result(() -> (int) FSTATFS.invokeExact(state, descriptor, scratch.address()));
    return error < 0 ? 0 : scratch.get(LONG, 0);
  }
}
