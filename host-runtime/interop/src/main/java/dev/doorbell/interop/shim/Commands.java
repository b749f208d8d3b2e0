package dev.doorbell.interop.shim;

import dev.doorbell.core.hca.HcaException;
import java.util.HashMap;
import java.util.Map;

/** Every command that is served, with the attributes that it knows. Others are refused. */
final class Commands {
  @FunctionalInterface
  private interface Handler {
    void run(Command command) throws Refusal, NeedsPages;
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

  static {
    add(Abi.OBJECT_DEVICE, Abi.METHOD_INVOKE_WRITE, bits(3), UHW, Commands::write);
    add(Abi.OBJECT_DEVICE, Abi.METHOD_GET_CONTEXT, bits(2), UHW, DeviceCommands::getContext);
    add(Abi.OBJECT_DEVICE, Abi.METHOD_QUERY_PORT, bits(2), 0, DeviceCommands::queryPort);
    add(Abi.OBJECT_DEVICE, Abi.METHOD_QUERY_GID_TABLE, bits(4), 0, DeviceCommands::queryGidTable);
    add(Abi.OBJECT_DEVICE, Abi.METHOD_QUERY_GID_ENTRY, bits(4), 0, DeviceCommands::queryGidEntry);
    add(Abi.OBJECT_ASYNC_EVENT, 0, bits(1), 0, QueueCommands::openAsync);
    add(Abi.OBJECT_PD, 0, bits(1), 0, command -> destroy(command, Resource.Pd.class));
    add(Abi.OBJECT_AH, 0, bits(1), 0, command -> destroy(command, Resource.Ah.class));
    add(
        Abi.OBJECT_MR,
        Abi.METHOD_MR_DESTROY,
        bits(1),
        0,
        command -> destroy(command, Resource.Mr.class));
    add(Abi.OBJECT_DM, 0, bits(3), bits(3), ChipCommands::allocate);
    add(Abi.OBJECT_DM, 1, bits(1), 0, ChipCommands::free);
    add(Abi.OBJECT_MR, Abi.METHOD_DM_MR_REG, bits(8), 0, ChipCommands::register);
    add(Abi.OBJECT_MR, Abi.METHOD_QUERY_MR, bits(5), 0, MemoryCommands::queryRegion);
    add(Abi.OBJECT_MR, Abi.METHOD_ADVISE_MR, bits(4), 0, Commands::unsupported);
    add(Abi.OBJECT_MR, Abi.METHOD_REG_DMABUF_MR, bits(9), 0, Commands::unsupported);
    add(Abi.OBJECT_CQ, 0, bits(7), UHW, QueueCommands::createCq);
    add(Abi.OBJECT_CQ, 1, bits(2), 0, QueueCommands::destroyCq);
    add(Abi.OBJECT_QP, 0, bits(15), UHW, QueueCommands::createQp);
    add(Abi.OBJECT_QP, 1, bits(2), 0, QueueCommands::destroyQp);
    add(Abi.OBJECT_SRQ, 0, bits(14), UHW, QueueCommands::createSrq);
    add(Abi.OBJECT_SRQ, 1, bits(2), 0, QueueCommands::destroySrq);
    driver(Abi.OBJECT_UAR, 0, 5, DeviceCommands::allocateUar);
    driver(Abi.OBJECT_UAR, 1, 1, DeviceCommands::freeUar);
    driver(Abi.OBJECT_DEVX, 0, 2, DevxCommands::other);
    driver(Abi.OBJECT_DEVX, 1, 2, DevxCommands::queryUar);
    driver(Abi.OBJECT_DEVX, 2, 2, DevxCommands::queryEqn);
    driver(Abi.OBJECT_DEVX, 3, 5, DevxEvents::subscribe);
    driver(Abi.OBJECT_DEVX_ASYNC_EVENT_FD, 0, 2, DevxEvents::open);
    driver(Abi.OBJECT_DEVX_OBJ, 0, 3, DevxCommands::create);
    driver(Abi.OBJECT_DEVX_OBJ, 1, 1, DevxCommands::destroy);
    driver(Abi.OBJECT_DEVX_OBJ, 2, 3, DevxCommands::modify);
    driver(Abi.OBJECT_DEVX_OBJ, 3, 3, DevxCommands::query);
    driver(Abi.OBJECT_DEVX_UMEM, 0, 7, DevxCommands::registerUmem);
    driver(
        Abi.OBJECT_DEVX_UMEM,
        1,
        1,
        command -> MemoryCommands.destroy(command, Abi.DEVX_UMEM_HANDLE, Resource.Umem.class));
  }

  private Commands() {}

  private static long bits(int count) {
    return (1L << count) - 1;
  }

  private static void add(int object, int method, long core, long driver, Handler handler) {
    METHODS.put(object << Short.SIZE | method, new Method(core, driver, handler));
  }

  /** A method of the driver, whose numbers and attributes are the driver's. */
  private static void driver(int object, int method, int attributes, Handler handler) {
    add(object, Abi.DRIVER + method, 0, bits(attributes), handler);
  }

  /**
   * Carries out a command.
   *
   * @return 0 or an error number
   * @throws NeedsPages when it has to be asked again once pages are shared; nothing was done
   */
  static int run(Command command) throws NeedsPages {
    Method method = METHODS.get(command.object() << Short.SIZE | command.method());
    if (method == null) {
      return Errno.EPROTONOSUPPORT;
    }
    try {
      command.check(method.core, method.driver);
      method.handler.run(command);
      return 0;
    } catch (Refusal e) {
      return e.errno();
    } catch (HcaException e) {
      return MemoryCommands.errno(e);
    }
  }

  private static void destroy(Command command, Class<? extends Resource> type) throws Refusal {
    MemoryCommands.destroy(command, Abi.DESTROY_HANDLE, type);
  }

  private static void unsupported(Command command) throws Refusal {
    throw new Refusal(Errno.EOPNOTSUPP);
  }

  /** Commands of the older kind: {@code enum ib_uverbs_write_cmds}. */
  private static void write(Command command) throws Refusal, NeedsPages {
    int number = command.in32(Abi.WRITE_CMD);
    boolean extended = (number & Abi.CMD_EXTENDED) != 0;
    switch (number & ~Abi.CMD_EXTENDED) {
      case Abi.CMD_QUERY_DEVICE -> DeviceCommands.queryDevice(command, extended);
      case Abi.CMD_ALLOC_PD -> MemoryCommands.allocatePd(command);
      case Abi.CMD_CREATE_AH -> MemoryCommands.createAddressHandle(command);
      case Abi.CMD_REG_MR -> MemoryCommands.register(command);
      case Abi.CMD_CREATE_COMP_CHANNEL -> QueueCommands.createChannel(command);
      case Abi.CMD_RESIZE_CQ -> QueueCommands.resizeCq(command);
      case Abi.CMD_MODIFY_QP -> ModifyCommands.modify(command, extended);
      case Abi.CMD_QUERY_QP -> ModifyCommands.query(command);
      case Abi.CMD_MODIFY_SRQ -> QueueCommands.modifySrq(command);
      case Abi.CMD_QUERY_SRQ -> QueueCommands.querySrq(command);
      default -> throw new Refusal(Errno.EOPNOTSUPP);
    }
  }
}
