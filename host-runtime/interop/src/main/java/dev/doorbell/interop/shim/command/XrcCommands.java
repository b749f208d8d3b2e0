package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.Resource;
import dev.doorbell.interop.shim.object.ServerTables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** XRC domains and their receivers. */
final class XrcCommands {
  // O_CREAT and O_EXCL
  private static final int CREATE = 0x40;
  private static final int EXCLUSIVE = 0x80;

  private XrcCommands() {}

  /** {@code struct ib_uverbs_open_xrcd}: programs that name the same file share a domain. */
  static void openDomain(IoctlCommand command) throws ErrnoException {
    Struct in = command.in(UverbsAbi.CORE_IN, 16);
    int descriptor = in.u32(8);
    int flags = in.u32(12);
    ErrnoException.require((flags & ~(CREATE | EXCLUSIVE)) == 0, Errno.EINVAL);
    ClientContext context = command.context();
    ServerTables tables = context.tables();
    Object file = descriptor == -1 ? new Object() : inode(context, descriptor);
    ServerTables.XrcFile name = new ServerTables.XrcFile(context.device(), file);
    boolean there = tables.hasXrc(name);
    ErrnoException.require(there ? (flags & EXCLUSIVE) == 0 : (flags & CREATE) != 0, Errno.EINVAL);
    Resource.Xrcd opened = new Resource.Xrcd(tables.openXrc(name), tables, name);
    command.out(UverbsAbi.CORE_OUT, new Struct(4).u32(0, command.add(opened)));
  }

  private static Object inode(ClientContext context, int descriptor) throws ErrnoException {
    Path link = Path.of("/proc/%d/fd/%d".formatted(context.process().pid(), descriptor));
    try {
      return Files.getAttribute(link, "unix:dev") + ":" + Files.getAttribute(link, "unix:ino");
    } catch (IOException e) {
      throw new ErrnoException(Errno.EBADF);
    }
  }

  /** A queue pair that receives for the queues of its domain. */
  static void createReceiver(IoctlCommand command) throws ErrnoException {
    Resource.Xrcd in = command.find(UverbsAbi.CREATE_QP_XRCD_HANDLE, Resource.Xrcd.class);
    Resource.Receiver receiver =
        new Resource.Receiver(
            in.domain.createReceiver(), in, command.in64(UverbsAbi.CREATE_QP_USER_HANDLE));
    QueuePairCommands.answer(
        command,
        command.add(receiver),
        receiver.number(),
        new Struct(40),
        receiver.control.capabilities);
  }

  /** {@code struct ib_uverbs_open_qp}: another handle of a receiver of the same domain. */
  static void openReceiver(IoctlCommand command) throws ErrnoException {
    Struct in = command.in(UverbsAbi.CORE_IN, 32);
    ClientContext context = command.context();
    Resource.Xrcd domain = context.find(Resource.Xrcd.class, in.u32(16));
    ErrnoException.require(in.u8(24) == UverbsAbi.TYPE_XRC_RECEIVE, Errno.EINVAL);
    Resource.Receiver opened =
        new Resource.Receiver(domain.domain.receiver(in.u32(20)), domain, in.u64(8));
    Struct out = new Struct(32).u32(0, command.add(opened)).u32(4, opened.number());
    command.out(UverbsAbi.CORE_OUT, out);
  }
}
