package dev.doorbell.experiments.scenario.recovery;

import dev.doorbell.core.hca.ExecutedRequests;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.proxy.SendQueueAccess;
import dev.doorbell.proxy.recovery.RecoveringPoster.PeerConnection;
import org.jspecify.annotations.Nullable;

/** A connection on which the CPU of rank 0 posts, over one port. */
final class CpuConnection implements PeerConnection {
  private static final int BLOCKS = 64;

  private final Ports ports;
  private final PortPair pair;

  CpuConnection(Ports ports, int port, PortPair.Tally tally) {
    this.ports = ports;
    this.pair = new PortPair(ports, port, BLOCKS, MemoryKind.HOST, tally);
    pair.connect();
  }

  @Override
  public String name() {
    return "port%d by the CPU".formatted(pair.port());
  }

  @Override
  public SendQueueAccess access() {
    return SendQueueAccess.of(pair.sender(), 0, 0);
  }

  @Override
  public void adapt(CommandEntry command) {
    command.localKey = ports.key(0, pair.port());
    command.remoteKey = ports.key(1, pair.port());
  }

  @Override
  public void stop() {
    pair.stop();
  }

  @Override
  public @Nullable ExecutedRequests executed() {
    return pair.executed();
  }

  @Override
  public void deliver(CommandEntry command, long result) {
    Memory buffer = ports.buffer(0);
    buffer.putLong(command.localAddress - buffer.address(), result);
  }

  @Override
  public void close() {
    pair.close();
  }
}
