package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.PagesNotShared;
import dev.doorbell.interop.shim.object.Resource;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** The table of commands: each with its known attributes and its handler. */
public final class CommandTable {
  @FunctionalInterface
  private interface Handler {
    void run(IoctlCommand command) throws ErrnoException, PagesNotShared;
  }

  /**
   * A method.
   *
   * @param core bit n: attribute n is known
   * @param driver bit n: the driver's attribute n is known
   */
  private record Method(long core, long driver, Handler handler) {}

  private static final long UHW = 3;

  private static final Map<Integer, Method> METHODS = new HashMap<>();

  /** Objects that need no doorbell page. */
  private static final Set<Integer> WITHOUT_QUEUES =
      Set.of(
          UverbsAbi.OBJECT_DEVICE,
          UverbsAbi.OBJECT_PD,
          UverbsAbi.OBJECT_AH,
          UverbsAbi.OBJECT_MR,
          UverbsAbi.OBJECT_DM);

  static {
    device(UverbsAbi.METHOD_INVOKE_WRITE, bits(3), UHW, CommandTable::write);
    device(UverbsAbi.METHOD_GET_CONTEXT, bits(2), UHW, DeviceCommands::getContext);
    device(UverbsAbi.METHOD_QUERY_CONTEXT, bits(2), bits(1), DeviceCommands::queryContext);
    driver(UverbsAbi.OBJECT_DEVICE, 0, 2, DeviceCommands::queryDriverPort);
    driver(UverbsAbi.OBJECT_PD, 0, 2, MemoryCommands::queryPd);
    driver(UverbsAbi.OBJECT_DM, UverbsAbi.METHOD_DM_QUERY, 4, MemoryCommands::queryOnChip);
    device(UverbsAbi.METHOD_QUERY_PORT, bits(2), 0, DeviceCommands::queryPort);
    device(UverbsAbi.METHOD_QUERY_GID_TABLE, bits(4), 0, DeviceCommands::queryGidTable);
    device(UverbsAbi.METHOD_QUERY_GID_ENTRY, bits(4), 0, DeviceCommands::queryGidEntry);
    device(UverbsAbi.METHOD_QUERY_PORT_SPEED, bits(2), 0, DeviceCommands::queryPortSpeed);
    add(UverbsAbi.OBJECT_ASYNC_EVENT, 0, bits(1), 0, ChannelCommands::openAsync);
    destroy(UverbsAbi.OBJECT_PD, 0, Resource.Pd.class);
    destroy(UverbsAbi.OBJECT_AH, 0, Resource.Ah.class);
    destroy(UverbsAbi.OBJECT_MR, UverbsAbi.METHOD_MR_DESTROY, Resource.Mr.class);
    add(UverbsAbi.OBJECT_DM, 0, bits(3), bits(3), MemoryCommands::allocateOnChip);
    add(UverbsAbi.OBJECT_DM, 1, bits(1), 0, MemoryCommands::freeOnChip);
    add(
        UverbsAbi.OBJECT_MR,
        UverbsAbi.METHOD_DM_MR_REG,
        bits(8),
        0,
        MemoryCommands::registerOnChip);
    add(UverbsAbi.OBJECT_MR, UverbsAbi.METHOD_QUERY_MR, bits(5), 0, RegionCommands::query);
    add(UverbsAbi.OBJECT_MR, UverbsAbi.METHOD_ADVISE_MR, bits(4), 0, RegionCommands::advise);
    add(
        UverbsAbi.OBJECT_MR,
        UverbsAbi.METHOD_REG_DMABUF_MR,
        bits(9),
        0,
        RegionCommands::registerExported);
    add(UverbsAbi.OBJECT_CQ, 0, bits(8), UHW, CompletionQueueCommands::create);
    add(UverbsAbi.OBJECT_CQ, 1, bits(2), 0, CompletionQueueCommands::destroy);
    add(UverbsAbi.OBJECT_QP, 0, bits(15), UHW, QueuePairCommands::create);
    add(UverbsAbi.OBJECT_QP, 1, bits(2), 0, QueuePairCommands::destroy);
    add(UverbsAbi.OBJECT_SRQ, 0, bits(14), UHW, SharedReceiveCommands::create);
    add(
        UverbsAbi.OBJECT_SRQ,
        1,
        bits(2),
        0,
        command -> ChannelCommands.destroy(command, Resource.Srq.class));
    driver(UverbsAbi.OBJECT_UAR, 0, 5, DeviceCommands::allocateUar);
    driver(UverbsAbi.OBJECT_UAR, 1, 1, DeviceCommands::freeUar);
    driver(UverbsAbi.OBJECT_DEVX, 0, 2, DevxCommands::other);
    driver(UverbsAbi.OBJECT_DEVX, 1, 2, DevxCommands::queryUar);
    driver(UverbsAbi.OBJECT_DEVX, 2, 2, DevxCommands::queryEqn);
    driver(UverbsAbi.OBJECT_DEVX, 3, 5, DevxCommands::subscribe);
    driver(UverbsAbi.OBJECT_DEVX_ASYNC_EVENT_FD, 0, 2, DevxCommands::openEvents);
    driver(UverbsAbi.OBJECT_DEVX_OBJ, 0, 3, DevxCommands::create);
    driver(UverbsAbi.OBJECT_DEVX_OBJ, 1, 1, DevxCommands::destroy);
    driver(UverbsAbi.OBJECT_DEVX_OBJ, 2, 3, DevxCommands::modify);
    driver(UverbsAbi.OBJECT_DEVX_OBJ, 3, 3, DevxCommands::query);
    driver(UverbsAbi.OBJECT_DEVX_OBJ, 4, 5, DevxCommands::queryLater);
    driver(UverbsAbi.OBJECT_DEVX_ASYNC_CMD_FD, 0, 1, DevxCommands::openAnswers);
    driver(UverbsAbi.OBJECT_DEVX_UMEM, 0, 7, DevxCommands::registerUmem);
    driver(
        UverbsAbi.OBJECT_DEVX_UMEM,
        1,
        1,
        command -> command.remove(UverbsAbi.DRIVER, Resource.Umem.class));
  }

  private CommandTable() {}

  private static long bits(int count) {
    return (1L << count) - 1;
  }

  private static void add(int object, int method, long core, long driver, Handler handler) {
    METHODS.put(object << Short.SIZE | method, new Method(core, driver, handler));
  }

  /** The method that closes objects of a type without an answer. */
  private static void destroy(int object, int method, Class<? extends Resource> type) {
    add(
        object,
        method,
        bits(1),
        0,
        command -> command.context().remove(type, command.handle(UverbsAbi.DESTROY_HANDLE)));
  }

  /** A method of the device itself. */
  private static void device(int method, long core, long driver, Handler handler) {
    add(UverbsAbi.OBJECT_DEVICE, method, core, driver, handler);
  }

  /** A method of the driver, whose numbers and attributes are the driver's. */
  private static void driver(int object, int method, int attributes, Handler handler) {
    add(object, UverbsAbi.DRIVER + method, 0, bits(attributes), handler);
  }

  /**
   * Carries out a command.
   *
   * @return 0 or an error number
   * @throws PagesNotShared when it has to be repeated after pages are shared; nothing has changed
   */
  public static int run(IoctlCommand command) throws PagesNotShared {
    Method method = METHODS.get(command.object() << Short.SIZE | command.method());
    if (method == null) {
      return Errno.EPROTONOSUPPORT;
    }
    if (command.context().isInherited() && !WITHOUT_QUEUES.contains(command.object())) {
      return Errno.EOPNOTSUPP;
    }
    int errno;
    try {
      command.check(method.core, method.driver);
      method.handler.run(command);
      return 0;
    } catch (ErrnoException e) {
      errno = e.errno();
    } catch (HcaException e) {
      errno = e.errno() == 0 ? Errno.EINVAL : e.errno();
    }
    command.undo();
    return errno;
  }

  /** CommandTable of the older kind: {@code enum ib_uverbs_write_cmds}. */
  private static void write(IoctlCommand command) throws ErrnoException, PagesNotShared {
    int number = command.in32(UverbsAbi.WRITE_CMD);
    boolean extended = (number & UverbsAbi.CMD_EXTENDED) != 0;
    switch (number & ~UverbsAbi.CMD_EXTENDED) {
      case UverbsAbi.CMD_QUERY_DEVICE -> DeviceCommands.queryDevice(command, extended);
      case UverbsAbi.CMD_ALLOC_PD -> MemoryCommands.allocatePd(command);
      case UverbsAbi.CMD_CREATE_AH -> MemoryCommands.createAddressHandle(command);
      case UverbsAbi.CMD_REG_MR -> RegionCommands.register(command);
      case UverbsAbi.CMD_REREG_MR -> RegionCommands.change(command);
      case UverbsAbi.CMD_CREATE_COMP_CHANNEL -> ChannelCommands.createChannel(command);
      case UverbsAbi.CMD_RESIZE_CQ -> CompletionQueueCommands.resize(command);
      case UverbsAbi.CMD_MODIFY_QP -> QueuePairCommands.modify(command, extended);
      case UverbsAbi.CMD_QUERY_QP -> QueuePairCommands.query(command);
      case UverbsAbi.CMD_ATTACH_MULTICAST -> QueuePairCommands.attach(command, true);
      case UverbsAbi.CMD_DETACH_MULTICAST -> QueuePairCommands.attach(command, false);
      case UverbsAbi.CMD_MODIFY_SRQ -> SharedReceiveCommands.modify(command);
      case UverbsAbi.CMD_QUERY_SRQ -> SharedReceiveCommands.query(command);
      default -> throw new ErrnoException(Errno.EOPNOTSUPP);
    }
  }
}
