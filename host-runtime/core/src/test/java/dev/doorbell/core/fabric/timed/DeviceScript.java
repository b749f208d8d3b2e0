package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.memory.Locus;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/** A device that does things at given moments; its buffers are native memory. */
final class DeviceScript implements Agent, AutoCloseable {
  private final Arena arena = Arena.ofShared();
  private final Deque<Consumer<DevicePort>> now = new ArrayDeque<>();
  final DevicePort port;
  int completions;
  int refusals;
  long lastAt;

  DeviceScript(Fabric fabric, Locus locus) {
    port = fabric.attachDevice(locus, this);
  }

  long buffer(long bytes) {
    return arena.allocate(bytes, 64).address();
  }

  /** Does something at the device's next step. */
  DeviceScript then(Consumer<DevicePort> act) {
    now.add(act);
    return this;
  }

  /** What to pass as a completion. */
  void completed(boolean ok) {
    completions++;
    refusals += ok ? 0 : 1;
    lastAt = port.now();
  }

  @Override
  public int step(int budget) {
    int done = now.size();
    while (!now.isEmpty()) {
      now.remove().accept(port);
    }
    return done;
  }

  @Override
  public void close() {
    arena.close();
  }
}
