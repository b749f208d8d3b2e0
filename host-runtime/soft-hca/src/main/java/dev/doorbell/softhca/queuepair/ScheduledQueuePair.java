package dev.doorbell.softhca.queuepair;

import dev.doorbell.core.fabric.DeviceUnit;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.softhca.objects.Completions;
import dev.doorbell.softhca.objects.ObjectOwner;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.RegionTable;
import dev.doorbell.softhca.packet.Packet;
import org.jspecify.annotations.Nullable;

/** What the engine runs: packets arrive at it, and it makes progress in turns. */
public abstract class ScheduledQueuePair extends QueuePairContext {
  final HcaEngine engine;

  // Links of the engine's lists.
  boolean active;
  @Nullable ScheduledQueuePair nextActive;
  boolean acknowledging;
  boolean starving;

  ScheduledQueuePair(
      HcaEngine engine,
      int number,
      int ordinal,
      Transport transport,
      ObjectOwner domain,
      RegionTable regions,
      Completions sendCompletions,
      @Nullable Completions receiveCompletions,
      DeviceUnit requests,
      DeviceUnit responses) {
    super(
        number,
        ordinal,
        transport,
        domain,
        regions,
        sendCompletions,
        receiveCompletions,
        requests,
        responses);
    this.engine = engine;
  }

  /** Makes whatever progress is possible. */
  abstract int run(int budget);

  /** A packet for this queue pair; takes it over. */
  abstract void receive(Packet packet);

  /** Sends the ACK that is due. */
  abstract void acknowledge();

  /** State and backlog, for reports. */
  abstract String describe();

  @Override
  public final void activate() {
    engine.activate(this);
  }

  @Override
  public final void activateFromOutside() {
    engine.activate(this);
    engine.wake();
  }

  @Override
  public final void acknowledgeLater() {
    engine.acknowledgeLater(this);
  }
}
