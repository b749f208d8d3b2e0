package dev.doorbell.experiments.scenario.push;

import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.push.generated.PushRingView;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.scenario.kind.ExperimentKind.SettingName;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.push.PushOptions;
import dev.doorbell.push.PushOptions.Service;
import dev.doorbell.push.PushOptions.WindowOptions;
import dev.doorbell.push.RingShape;
import dev.doorbell.push.network.Cable;
import dev.doorbell.push.network.Network;
import dev.doorbell.push.network.NetworkPlan;
import dev.doorbell.push.network.SwitchedNetwork;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions.Marking;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions.Pause;
import java.util.Arrays;
import java.util.SplittableRandom;

/** Settings of a point that pushes. */
record PushSettings(
    Point point,
    int size,
    int slots,
    int load,
    Full full,
    long rtt,
    PushOptions.Release release,
    int batch,
    int senders,
    Policy policy,
    @SettingName("switch") Switching switching,
    int buffer,
    int mark,
    int producers,
    int window) {
  /** Messages to a sample of a random point. */
  static final int BATCH_MESSAGES = 2_000;

  /** Mean service time of random points; the way of a credit is small beside it. */
  private static final long MEAN_SERVICE_NANOS = 50_000;

  private static final long DEADLINE_NANOS = 5_000_000_000L;
  private static final long STREAM_BYTES = 2L << 20;
  private static final long INCAST_BYTES = 128 << 10;
  private static final int FEWEST_MESSAGES = 32;
  private static final int UNIT = 16;
  private static final int MOST_THREADS = 64;
  private static final int FALLBACK_ENTRIES = 8;
  private static final int FRAME_OVERHEAD = 98;

  enum Full {
    STALL,
    DROP
  }

  enum Policy {
    NONE(WindowOptions.Policy.NONE),
    STATIC(WindowOptions.Policy.STATIC),
    ACK(WindowOptions.Policy.ACKNOWLEDGED),
    GRANT(WindowOptions.Policy.GRANTED),
    PULL_FALLBACK(WindowOptions.Policy.ACKNOWLEDGED);

    private final WindowOptions.Policy window;

    Policy(WindowOptions.Policy window) {
      this.window = window;
    }
  }

  enum Switching {
    NONE,
    LOSSY,
    ECN,
    PFC
  }

  boolean random() {
    return load > 0;
  }

  private int frame() {
    return size + FRAME_OVERHEAD;
  }

  Network network(TimedFabric fabric, Topology topology, Owned open) {
    if (switching == Switching.NONE) {
      return open.add(new Cable(fabric, Locus.nic(0, 0), rtt / 2, Cable.Impairment.NONE));
    }
    boolean pauses = switching == Switching.PFC;
    boolean marks = pauses || switching == Switching.ECN;
    double rate = topology.network().bytesPerNano();
    // Headroom: what a sender puts on the wire until the pause has reached it, and one frame.
    long headroom = Math.round(rtt / 2.0 * rate) + 2L * frame();
    int pause = (int) Math.max(frame(), buffer / senders - headroom);
    int marked = mark == 0 ? buffer / 4 : mark;
    return open.add(
        new SwitchedNetwork(
            fabric,
            Locus.nic(0, 0),
            NetworkPlan.single(senders + 1),
            QueueOptions.shared(
                rate,
                rtt / 4,
                buffer,
                marks ? Marking.above(marked) : Marking.NONE,
                pauses ? new Pause(pause, pause / 2) : Pause.NONE),
            point.seed()));
  }

  /** Options of an engine; {@code salt} tells its random times from those of other engines. */
  PushOptions options(int salt, Topology topology) {
    double rate = topology.network().bytesPerNano();
    NicPrices nic = topology.nics().getFirst();
    PushOptions options =
        PushOptions.DEFAULT
            .with(release)
            .with(
                random()
                    ? new Service(Double.MAX_VALUE, MEAN_SERVICE_NANOS, serviceSeed(salt))
                    : new Service(rate, Math.round(nic.wqe() + nic.packet()), 0))
            .with(new WindowOptions(policy.window, window * size));
    // A grant keeps the receiver's port busy: what it gets in a round trip, and two frames.
    int granted = (int) Math.round(rtt * rate) + 2 * frame();
    return policy == Policy.GRANT ? options.withGrants(granted) : options;
  }

  /** Far from the seed of the gaps: neighbouring seeds would give neighbouring times. */
  private long serviceSeed(int salt) {
    return new SplittableRandom(point.seed() + salt).split().nextLong() | 1;
  }

  PushTraffic traffic() {
    int entries = policy == Policy.PULL_FALLBACK ? FALLBACK_ENTRIES * slots : slots;
    int wanted =
        random()
            ? (point.warmup() + point.samples()) * BATCH_MESSAGES
            : (int) Math.max(FEWEST_MESSAGES, (senders > 1 ? INCAST_BYTES : STREAM_BYTES) / size);
    int messages = wanted - wanted % producers;
    PushTraffic traffic = PushTraffic.of(new RingShape(entries, slots, size, 0), size, messages, 0);
    traffic.batch = batch;
    traffic.threads = Math.clamp(size / UNIT, 1, MOST_THREADS);
    traffic.flags = full == Full.DROP ? PushRingView.LOSSY : 0;
    traffic.deadlineNanos = DEADLINE_NANOS;
    if (random()) {
      traffic.gaps = gaps(messages);
    } else {
      traffic.producers = producers;
    }
    return traffic;
  }

  private long[] gaps(int count) {
    SplittableRandom source = new SplittableRandom(point.seed());
    double mean = MEAN_SERVICE_NANOS * 100.0 / load;
    long[] gaps = new long[count];
    Arrays.setAll(gaps, i -> Math.round(-Math.log(1 - source.nextDouble()) * mean));
    return gaps;
  }
}
