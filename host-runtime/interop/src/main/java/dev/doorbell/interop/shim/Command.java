package dev.doorbell.interop.shim;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * One {@code ioctl(RDMA_VERBS_IOCTL)}: {@code struct ib_uverbs_ioctl_hdr} and its attributes
 * (rdma/rdma_user_ioctl_cmds.h). Reads what attributes point at and writes results in the program's
 * memory, as a kernel does.
 */
final class Command {
  static final int HEAD_BYTES = 24;

  private static final int OBJECT = 2;
  private static final int METHOD = 4;
  private static final int COUNT = 6;
  private static final int RESERVED_1 = 8;
  private static final int DRIVER = 16;
  private static final int RESERVED_2 = 20;

  private static final int ATTRIBUTE_BYTES = 16;
  private static final int LENGTH = 2;
  private static final int FLAGS = 4;
  private static final int CHOICE = 6;
  private static final int DATA = 8;
  private static final int MANDATORY = 1;
  private static final int VALID_OUTPUT = 2;

  /** Attributes from here on are the driver's. */
  private static final int DRIVER_SPACE = 0x1000;

  private static final int RDMA_DRIVER_MLX5 = 1;
  private static final int MOST_BYTES = 1 << 16;

  private final Context context;
  private final long head;
  private final Struct bytes;
  private final int count;
  private final List<Action> actions = new ArrayList<>();

  /**
   * @param head where the structure is in the program
   * @throws Refusal when it is not one
   */
  Command(Context context, long head, byte[] content) throws Refusal {
    this.context = context;
    this.head = head;
    this.bytes = new Struct(content);
    if (content.length < HEAD_BYTES) {
      throw new Refusal(Errno.EINVAL);
    }
    this.count = bytes.u16(COUNT);
    if (content.length != HEAD_BYTES + count * ATTRIBUTE_BYTES
        || bytes.u64(RESERVED_1) != 0
        || bytes.u32(RESERVED_2) != 0
        || bytes.u32(DRIVER) != RDMA_DRIVER_MLX5) {
      throw new Refusal(Errno.EINVAL);
    }
  }

  int object() {
    return bytes.u16(OBJECT);
  }

  int method() {
    return bytes.u16(METHOD);
  }

  Context context() {
    return context;
  }

  /** What the library has to do when the command has succeeded. */
  List<Action> actions() {
    return actions;
  }

  void then(Action action) {
    actions.add(action);
  }

  /**
   * Refuses attributes that a kernel does not know and may not ignore.
   *
   * @param core bit n: attribute n is known
   * @param driver bit n: the driver's attribute n is known
   */
  void check(long core, long driver) throws Refusal {
    long seenCore = 0;
    long seenDriver = 0;
    for (int i = 0; i < count; i++) {
      int at = HEAD_BYTES + i * ATTRIBUTE_BYTES;
      int id = bytes.u16(at);
      int number = id & (DRIVER_SPACE - 1);
      boolean isDriver = (id & ~(DRIVER_SPACE - 1)) == DRIVER_SPACE;
      boolean isCore = id < DRIVER_SPACE;
      long bit = number < Long.SIZE ? 1L << number : 0;
      if ((isDriver && (seenDriver & bit) != 0) || (isCore && (seenCore & bit) != 0)) {
        throw new Refusal(Errno.EINVAL);
      }
      seenDriver |= isDriver ? bit : 0;
      seenCore |= isCore ? bit : 0;
      boolean known = (isDriver && (driver & bit) != 0) || (isCore && (core & bit) != 0);
      if (!known && (bytes.u16(at + FLAGS) & MANDATORY) != 0) {
        throw new Refusal(Errno.EPROTONOSUPPORT);
      }
    }
  }

  private int find(int id) {
    for (int i = 0; i < count; i++) {
      int at = HEAD_BYTES + i * ATTRIBUTE_BYTES;
      if (bytes.u16(at) == id) {
        return at;
      }
    }
    return -1;
  }

  boolean has(int id) {
    return find(id) >= 0;
  }

  /** The length of an attribute; 0 when it is missing. */
  int length(int id) {
    int at = find(id);
    return at < 0 ? 0 : bytes.u16(at + LENGTH);
  }

  /** Where the memory is that an attribute points at. */
  long pointer(int id) throws Refusal {
    return bytes.u64(require(id) + DATA);
  }

  private int require(int id) throws Refusal {
    int at = find(id);
    if (at < 0) {
      throw new Refusal(Errno.EINVAL);
    }
    return at;
  }

  /** An input of at least {@code least} bytes, all of it. */
  Struct in(int id, int least) throws Refusal {
    int at = require(id);
    int length = bytes.u16(at + LENGTH);
    if (length < least) {
      throw new Refusal(Errno.EINVAL);
    }
    byte[] content = new byte[length];
    if (length <= Long.BYTES) {
      System.arraycopy(bytes.content(), at + DATA, content, 0, length);
    } else {
      context.copyIn(bytes.u64(at + DATA), content);
    }
    return new Struct(content);
  }

  int in32(int id) throws Refusal {
    return in(id, Integer.BYTES).u32(0);
  }

  long in64(int id) throws Refusal {
    return in(id, Long.BYTES).u64(0);
  }

  /** An input that may be missing. */
  int in32(int id, int otherwise) throws Refusal {
    return has(id) ? in32(id) : otherwise;
  }

  /** Which of an enumeration an attribute chooses ({@code attr_data.enum_data.elem_id}). */
  int choice(int id, int otherwise) {
    int at = find(id);
    return at < 0 ? otherwise : bytes.u8(at + CHOICE);
  }

  /** A handle or a file descriptor. */
  int handle(int id) throws Refusal {
    return bytes.u32(require(id) + DATA);
  }

  /** Writes an output, cut to or filled up to what the program has room for; nothing if none. */
  void out(int id, Struct result) throws Refusal {
    int at = find(id);
    if (at < 0) {
      return;
    }
    int room = bytes.u16(at + LENGTH);
    byte[] content = new byte[room];
    System.arraycopy(result.content(), 0, content, 0, Math.min(room, result.size()));
    context.copyOut(bytes.u64(at + DATA), content);
    Struct flags = new Struct(Short.BYTES).u16(0, bytes.u16(at + FLAGS) | VALID_OUTPUT);
    context.copyOut(head + at + FLAGS, flags.content());
  }

  void out32(int id, int value) throws Refusal {
    out(id, new Struct(Integer.BYTES).u32(0, value));
  }

  void out64(int id, long value) throws Refusal {
    out(id, new Struct(Long.BYTES).u64(0, value));
  }

  /** Tells the program the handle of a new object. */
  void outHandle(int id, int handle) throws Refusal {
    context.copyOut(head + require(id) + DATA, new Struct(Long.BYTES).u64(0, handle).content());
  }

  /** Where the library writes the number of a new file descriptor to. */
  long descriptorAddress(int id) throws Refusal {
    return head + require(id) + DATA;
  }

  /** Copies between a process and the heap, for what is too small to matter. */
  static final class Copies {
    private final MemorySegment buffer = Arena.ofAuto().allocate(MOST_BYTES, Long.BYTES);

    void in(ProcessMemory memory, long address, byte[] to) throws Refusal {
      if (to.length > MOST_BYTES || !memory.read(address, buffer.address(), to.length)) {
        throw new Refusal(Errno.EFAULT);
      }
      MemorySegment.copy(buffer, 0, MemorySegment.ofArray(to), 0, to.length);
    }

    void out(ProcessMemory memory, long address, byte[] from) throws Refusal {
      if (from.length > MOST_BYTES) {
        throw new Refusal(Errno.EFAULT);
      }
      MemorySegment.copy(MemorySegment.ofArray(from), 0, buffer, 0, from.length);
      if (from.length > 0 && !memory.write(buffer.address(), address, from.length)) {
        throw new Refusal(Errno.EFAULT);
      }
    }
  }
}
