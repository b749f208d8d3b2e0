package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.uverbs.generated.IoctlLayout;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.ShimAction;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.Resource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One {@code ioctl(RDMA_VERBS_IOCTL)}: {@code struct ib_uverbs_ioctl_hdr} and its attributes
 * (rdma/rdma_user_ioctl_cmds.h). Reads what attributes point at and writes results in the program's
 * memory, as a kernel does.
 */
public final class IoctlCommand extends IoctlLayout {
  /** The first of the driver's attributes. */
  private static final int DRIVER_SPACE = 0x1000;

  private final ClientContext context;
  private final long head;
  private final Struct bytes;
  private final int count;
  private final List<ShimAction> actions = new ArrayList<>();
  private @Nullable Resource made;
  private int handle;

  /**
   * @param head where the structure is in the program
   * @throws ErrnoException EINVAL when the bytes are no such structure
   */
  public IoctlCommand(ClientContext context, long head, byte[] content) throws ErrnoException {
    this.context = context;
    this.head = head;
    this.bytes = new Struct(content);
    ErrnoException.require(content.length >= HEAD_BYTES, Errno.EINVAL);
    this.count = bytes.u16(COUNT);
    ErrnoException.require(
        content.length == HEAD_BYTES + count * ATTRIBUTE_BYTES
            && bytes.u64(RESERVED_1) == 0
            && bytes.u32(RESERVED_2) == 0
            && bytes.u32(DRIVER) == RDMA_DRIVER_MLX5,
        Errno.EINVAL);
  }

  int object() {
    return bytes.u16(OBJECT);
  }

  int method() {
    return bytes.u16(METHOD);
  }

  ClientContext context() {
    return context;
  }

  /** The steps that the library carries out when the command has succeeded. */
  public List<ShimAction> actions() {
    return actions;
  }

  void addAction(ShimAction action) {
    actions.add(action);
  }

  /**
   * Checks that the command has no attribute twice, and no mandatory one that is unknown.
   *
   * @param core bit n: attribute n is known
   * @param driver bit n: the driver's attribute n is known
   */
  void check(long core, long driver) throws ErrnoException {
    long seenCore = 0;
    long seenDriver = 0;
    for (int i = 0; i < count; i++) {
      int at = HEAD_BYTES + i * ATTRIBUTE_BYTES;
      int id = bytes.u16(at);
      int number = id & (DRIVER_SPACE - 1);
      boolean isDriver = (id & ~(DRIVER_SPACE - 1)) == DRIVER_SPACE;
      boolean isCore = id < DRIVER_SPACE;
      long bit = number < Long.SIZE ? 1L << number : 0;
      ErrnoException.require(
          (!isDriver || (seenDriver & bit) == 0) && (!isCore || (seenCore & bit) == 0),
          Errno.EINVAL);
      seenDriver |= isDriver ? bit : 0;
      seenCore |= isCore ? bit : 0;
      boolean known = (isDriver && (driver & bit) != 0) || (isCore && (core & bit) != 0);
      ErrnoException.require(
          known || (bytes.u16(at + FLAGS) & MANDATORY) == 0, Errno.EPROTONOSUPPORT);
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

  /** The address that an attribute holds. */
  long pointer(int id) throws ErrnoException {
    return bytes.u64(require(id) + DATA);
  }

  private int require(int id) throws ErrnoException {
    int at = find(id);
    ErrnoException.require(at >= 0, Errno.EINVAL);
    return at;
  }

  /** The whole input, which must have at least {@code least} bytes. */
  Struct in(int id, int least) throws ErrnoException {
    int at = require(id);
    int length = bytes.u16(at + LENGTH);
    ErrnoException.require(length >= least, Errno.EINVAL);
    byte[] content = new byte[length];
    if (length <= Long.BYTES) {
      System.arraycopy(bytes.content(), at + DATA, content, 0, length);
    } else {
      context.process().memory().copyIn(bytes.u64(at + DATA), content);
    }
    return new Struct(content);
  }

  int in32(int id) throws ErrnoException {
    return in(id, Integer.BYTES).u32(0);
  }

  long in64(int id) throws ErrnoException {
    return in(id, Long.BYTES).u64(0);
  }

  int in32(int id, int otherwise) throws ErrnoException {
    return has(id) ? in32(id) : otherwise;
  }

  /**
   * The value of an enumeration that an attribute chooses ({@code attr_data.enum_data.elem_id}).
   */
  int choice(int id, int otherwise) {
    int at = find(id);
    return at < 0 ? otherwise : bytes.u8(at + CHOICE);
  }

  int handle(int id) throws ErrnoException {
    return bytes.u32(require(id) + DATA);
  }

  <T extends Resource> T find(int id, Class<T> type) throws ErrnoException {
    return context.find(type, handle(id));
  }

  /** Closes the object that the handle in an attribute names, and returns it. */
  <T extends Resource> T remove(int id, Class<T> type) throws ErrnoException {
    return context.remove(type, handle(id));
  }

  /** Writes an output, truncated or padded to the length of its attribute, if it is present. */
  void out(int id, Struct result) throws ErrnoException {
    int at = find(id);
    if (at < 0) {
      return;
    }
    int room = bytes.u16(at + LENGTH);
    byte[] content = new byte[room];
    System.arraycopy(result.content(), 0, content, 0, Math.min(room, result.size()));
    context.process().memory().copyOut(bytes.u64(at + DATA), content);
    Struct flags = new Struct(Short.BYTES).u16(0, bytes.u16(at + FLAGS) | VALID_OUTPUT);
    context.process().memory().copyOut(head + at + FLAGS, flags.content());
  }

  void out32(int id, int value) throws ErrnoException {
    out(id, new Struct(Integer.BYTES).u32(0, value));
  }

  void out64(int id, long value) throws ErrnoException {
    out(id, new Struct(Long.BYTES).u64(0, value));
  }

  /** Adds an object that the command has made, which ends where the command fails after all. */
  int add(Resource resource) {
    made = resource;
    handle = context.add(resource);
    return handle;
  }

  /** Ends the object that it has made: the program will not learn its handle. */
  void undo() {
    if (made != null) {
      context.remove(made, handle);
    }
  }

  void outHandle(int id, int handle) throws ErrnoException {
    context
        .process()
        .memory()
        .copyOut(head + require(id) + DATA, new Struct(Long.BYTES).u64(0, handle).content());
  }

  /** The address to which the library writes the number of a new file descriptor. */
  long descriptorAddress(int id) throws ErrnoException {
    return head + require(id) + DATA;
  }
}
