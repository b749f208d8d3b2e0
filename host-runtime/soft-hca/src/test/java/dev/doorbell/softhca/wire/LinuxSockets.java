package dev.doorbell.softhca.wire;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * The socket calls of Linux's libc that the JDK does not offer: many datagrams a call, and their
 * traffic class and hop limit. Calls return what libc returns, or minus errno.
 */
@SuppressWarnings("restricted")
class LinuxSockets {
  static final int AF_INET = 2;
  static final int AF_INET6 = 10;

  static final int EIO = 5;
  static final int EAGAIN = 11;
  static final int EINVAL = 22;
  static final int EMSGSIZE = 90;
  static final int EINTR = 4;
  static final int ENOBUFS = 105;

  // Levels and names of options and control messages: linux/in.h, linux/in6.h, linux/udp.h,
  // asm-generic/socket.h.
  static final int SOL_SOCKET = 1;
  static final int SO_REUSEADDR = 2;
  static final int SO_SNDBUF = 7;
  static final int SO_RCVBUF = 8;
  static final int SO_SNDBUFFORCE = 32;
  static final int SO_RCVBUFFORCE = 33;
  static final int SO_RXQ_OVFL = 40;
  static final int IPPROTO_IP = 0;
  static final int IP_TOS = 1;
  static final int IP_TTL = 2;
  static final int IP_MTU_DISCOVER = 10;
  static final int IP_RECVTTL = 12;
  static final int IP_RECVTOS = 13;
  static final int PMTUDISC_DO = 2;
  static final int SOL_UDP = 17;
  static final int UDP_SEGMENT = 103;
  static final int UDP_GRO = 104;
  static final int IPPROTO_IPV6 = 41;
  static final int IPV6_UNICAST_HOPS = 16;
  static final int IPV6_MTU_DISCOVER = 23;
  static final int IPV6_V6ONLY = 26;
  static final int IPV6_RECVHOPLIMIT = 51;
  static final int IPV6_HOPLIMIT = 52;
  static final int IPV6_RECVTCLASS = 66;
  static final int IPV6_TCLASS = 67;

  private static final int SOCK_DGRAM_NONBLOCK_CLOEXEC = 2 | 0x800 | 0x80000;
  private static final int MSG_DONTWAIT = 0x40;

  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private static final MethodHandle SOCKET =
      find("socket", FunctionDescriptor.of(INT, INT, INT, INT));
  private static final MethodHandle BIND = find("bind", FunctionDescriptor.of(INT, INT, LONG, INT));
  private static final MethodHandle GETSOCKNAME =
      find("getsockname", FunctionDescriptor.of(INT, INT, LONG, LONG));
  private static final MethodHandle SETSOCKOPT =
      find("setsockopt", FunctionDescriptor.of(INT, INT, INT, INT, LONG, INT));
  private static final MethodHandle GETSOCKOPT =
      find("getsockopt", FunctionDescriptor.of(INT, INT, INT, INT, LONG, LONG));
  private static final MethodHandle SENDMMSG =
      find("sendmmsg", FunctionDescriptor.of(INT, INT, LONG, INT, INT));
  private static final MethodHandle RECVMMSG =
      find("recvmmsg", FunctionDescriptor.of(INT, INT, LONG, INT, INT, LONG));
  private static final MethodHandle PPOLL =
      find("ppoll", FunctionDescriptor.of(INT, LONG, LONG, LONG, LONG));
  private static final MethodHandle CLOSE = find("close", FunctionDescriptor.of(INT, INT));

  private final MemorySegment state = Arena.ofAuto().allocate(STATE);

  private static MethodHandle find(String name, FunctionDescriptor signature) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(name),
        signature,
        Linker.Option.captureCallState("errno"));
  }

  private int result(int returned) {
    return returned >= 0 ? returned : -(int) ERRNO.get(state, 0L);
  }

  /** Calls a function that sets a socket up; arguments are boxed, unlike on the data path. */
  private int call(MethodHandle function, Object... arguments) {
    try {
      return result((int) function.bindTo(state).invokeWithArguments(arguments));
    } catch (Throwable e) {
      throw sneaky(e);
    }
  }

  int socket(int family) {
    return call(SOCKET, family, SOCK_DGRAM_NONBLOCK_CLOEXEC, 0);
  }

  int bind(int socket, long name, int nameBytes) {
    return call(BIND, socket, name, nameBytes);
  }

  int getsockname(int socket, long name, long nameBytes) {
    return call(GETSOCKNAME, socket, name, nameBytes);
  }

  int setsockopt(int socket, int level, int option, long value) {
    return call(SETSOCKOPT, socket, level, option, value, Integer.BYTES);
  }

  /** Reads an int to {@code value}; the word at {@code bytes} holds its length and is changed. */
  int getsockopt(int socket, int level, int option, long value, long bytes) {
    return call(GETSOCKOPT, socket, level, option, value, bytes);
  }

  int sendmmsg(int socket, long messages, int count) {
    try {
      return result((int) SENDMMSG.invokeExact(state, socket, messages, count, MSG_DONTWAIT));
    } catch (Throwable e) {
      throw sneaky(e);
    }
  }

  int recvmmsg(int socket, long messages, int count) {
    try {
      return result((int) RECVMMSG.invokeExact(state, socket, messages, count, MSG_DONTWAIT, 0L));
    } catch (Throwable e) {
      throw sneaky(e);
    }
  }

  /** Waits until a descriptor is ready, at most for the timespec at {@code time}. */
  int ppoll(long descriptors, long count, long time) {
    try {
      return result((int) PPOLL.invokeExact(state, descriptors, count, time, 0L));
    } catch (Throwable e) {
      throw sneaky(e);
    }
  }

  int close(int socket) {
    return call(CLOSE, socket);
  }

  /** Method handles of C functions throw nothing but what the JVM itself throws. */
  private static RuntimeException sneaky(Throwable e) {
    return switch (e) {
      case RuntimeException runtime -> runtime;
      case Error error -> throw error;
      default -> new IllegalStateException(e);
    };
  }
}
