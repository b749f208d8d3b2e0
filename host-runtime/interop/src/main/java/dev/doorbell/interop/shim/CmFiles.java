package dev.doorbell.interop.shim;

import dev.doorbell.interop.shim.abi.ShimAction;
import dev.doorbell.interop.shim.client.ClientMemory;
import dev.doorbell.interop.shim.cm.CmChannel;
import dev.doorbell.interop.shim.cm.CmCommands;
import dev.doorbell.interop.shim.cm.ConnectionManager;
import dev.doorbell.interop.shim.object.EventStream;
import dev.doorbell.interop.shim.object.ServedDevice;
import dev.doorbell.interop.shim.object.ServerTables;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The {@code rdma_cm} files that programs have open, and their connections. */
final class CmFiles {
  private static final byte[] READABLE = {1};

  private final ServerTables tables;
  private final ConnectionManager manager;
  private final List<CmFile> files = new ArrayList<>();

  CmFiles(ServerTables tables, List<ServedDevice> devices) {
    this.tables = tables;
    this.manager =
        new ConnectionManager(
            devices.stream()
                .map(
                    device ->
                        new ConnectionManager.Device(device.number(), device.guid(), device.gids()))
                .toList(),
            System::nanoTime,
            new SecureRandom());
  }

  CmFile open(int pid) {
    EventStream stream = tables.openEvents(pid, READABLE.length);
    CmChannel channel = new CmChannel(pid, () -> stream.add(READABLE));
    CmCommands commands =
        new CmCommands(
            manager, number -> withDescriptor(pid, number), channel, new ClientMemory(pid));
    CmFile file = new CmFile(channel, stream, commands);
    files.add(file);
    return file;
  }

  void close(CmFile file) {
    files.remove(file);
    manager.close(file.channel());
    tables.close(file.stream());
  }

  private @Nullable CmChannel withDescriptor(int pid, int number) {
    // A thread that waits keeps a file whose descriptor is closed, and its number may be a newer
    // file's.
    for (CmFile file : files.reversed()) {
      if (file.channel().pid() == pid && file.stream().descriptor() == number) {
        return file.channel();
      }
    }
    return null;
  }

  /**
   * Returns what the program's library has to take from the descriptors on which no event waits.
   */
  List<ShimAction> takeDrained(int pid) {
    List<ShimAction> actions = new ArrayList<>();
    for (CmFile file : files) {
      if (file.channel().pid() == pid) {
        for (int left = file.channel().takeDrained(); left > 0; left--) {
          actions.add(ShimAction.take(file.token()));
        }
      }
    }
    return actions;
  }

  /** Ends what has waited too long for its peer. */
  int expire() {
    return manager.expire();
  }

  /**
   * An {@code rdma_cm} file that a program has open.
   *
   * @param channel its ids and events
   * @param stream what the program's descriptor is the other end of; bytes in it say that events
   *     wait
   * @param commands what the program writes
   */
  record CmFile(CmChannel channel, EventStream stream, CmCommands commands) {
    /** Names the stream to the program's library. */
    long token() {
      return stream.token();
    }

    int run(byte[] command) {
      return commands.run(command);
    }
  }
}
