package dev.doorbell.proxy;

import dev.doorbell.core.Basis;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/** A direct fabric whose threads park at random, with memory for queues and payload. */
final class TestWorld extends Fabric implements MemoryProvider {
  private final DirectFabric fabric;
  private final SplittableRandom random;
  private final double parking;
  final List<ParkingPort> ports = new ArrayList<>();

  /** What host threads stored, in order, when {@link #logging}. */
  final List<String> log = new ArrayList<>();

  private final boolean logging;

  /**
   * @param seed of interleaving and parking; 0 is round robin
   * @param parking how likely an access parks its thread
   */
  TestWorld(long seed, double parking) {
    this(seed, parking, false);
  }

  TestWorld(long seed, double parking, boolean logging) {
    this.fabric = new DirectFabric(AddressSpace.reserve(1L << 30), seed);
    this.random = new SplittableRandom(seed ^ 0x9a2c);
    this.parking = parking;
    this.logging = logging;
  }

  @Override
  public Memory allocate(MemoryKind kind, long bytes, String label) {
    return NativeMemory.allocate(memory(), 0, kind, bytes, label);
  }

  /** Runs until {@code done}; fails when that takes half a minute. */
  void runUntil(BooleanSupplier done) {
    if (fabric.run(done, 30_000_000_000L) != RunOutcome.DONE) {
      throw new AssertionError("not done after 30 s");
    }
  }

  @Override
  public AddressSpace memory() {
    return fabric.memory();
  }

  @Override
  public ThreadPort attachThread(Locus locus, Agent agent) {
    ParkingPort port =
        new ParkingPort(
            fabric.attachThread(locus, agent),
            random.split(),
            parking,
            logging && locus.part() == Locus.Part.CPU ? log : ParkingPort.NOBODY);
    ports.add(port);
    return port;
  }

  @Override
  public DevicePort attachDevice(Locus locus, Agent agent) {
    return fabric.attachDevice(locus, agent);
  }

  @Override
  public void detach(Agent agent) {
    fabric.detach(agent);
  }

  @Override
  public void wake(Agent agent) {
    fabric.wake(agent);
  }

  @Override
  public RunOutcome run(BooleanSupplier done, long nanos) {
    return fabric.run(done, nanos);
  }

  @Override
  public long now() {
    return fabric.now();
  }

  @Override
  public Basis basis() {
    return fabric.basis();
  }

  @Override
  public void close() {
    fabric.close();
  }
}
