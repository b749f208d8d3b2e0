package dev.doorbell.interop.shim;

import dev.doorbell.interop.shim.cm.CmChannel;
import dev.doorbell.interop.shim.cm.CmCommands;
import dev.doorbell.interop.shim.object.EventStream;

/**
 * An {@code rdma_cm} file that a program has open.
 *
 * @param channel its ids and events
 * @param stream what the program's descriptor is the other end of; bytes in it say that events wait
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
