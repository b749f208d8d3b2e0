package dev.doorbell.experiments.scenario.push;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.push.generated.PushRingView;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.push.PushChecker;
import dev.doorbell.push.PushOptions;
import dev.doorbell.push.network.Cable;
import dev.doorbell.push.network.Network;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** Rank 0 pushes to engines of rank 1, in virtual time, with everything checked. */
final class PushBench implements AutoCloseable {
  private static final long SEED = 7;
  private static final long KERNEL_NANOS = 1_000_000_000L;

  final TimedFabric fabric;
  final PushChecker checker = new PushChecker();
  final PushNode sender;
  final List<PushNode> receivers = new ArrayList<>();
  private final VmGpu target;
  private final VmGpu source;

  PushBench(PushOptions options, Cable.Impairment impairment) {
    this(options, options, 1, 1000, impairment);
  }

  PushBench(
      PushOptions options,
      PushOptions receiving,
      int receivers,
      long nanos,
      Cable.Impairment impairment) {
    this(
        options,
        receiving,
        receivers,
        fabric -> new Cable(fabric, Locus.nic(0, 0), nanos, impairment));
  }

  private PushBench(
      PushOptions options, PushOptions receiving, int count, Function<TimedFabric, Network> net) {
    try {
      fabric = new TimedFabric(TopologyFile.load("round-pix"), SEED);
    } catch (ConfigException e) {
      throw new IllegalStateException(e);
    }
    Network network = net.apply(fabric);
    source = new VmGpu(fabric, Locus.gpu(0, 0));
    target = new VmGpu(fabric, Locus.gpu(1, 0));
    sender = new PushNode(fabric, source, network, options, checker);
    for (int i = 0; i < count; i++) {
      receivers.add(new PushNode(fabric, target, network, receiving, checker));
    }
  }

  /** Holds the rings of a node, which is prepared, against the claims of their producers. */
  private static void watch(PushChecker checker, PushNode node, int rings) {
    for (int i = 0; i < rings; i++) {
      Memory counters = node.counters(i);
      checker.watch(
          node.engine(),
          node.ring(i),
          new PushChecker.Producer() {
            @Override
            public long reserved() {
              return counters.getLong(PushRingView.COUNTERS_RESERVED);
            }

            @Override
            public long seen() {
              return counters.getLong(PushRingView.COUNTERS_SEEN);
            }
          });
    }
  }

  static Consumer<PushTraffic> producers(int count) {
    return traffic -> traffic.producers = count;
  }

  static Consumer<PushTraffic> toEachInTurn(int count) {
    return traffic -> traffic.destinations = count;
  }

  static Consumer<PushTraffic> ringForEach(int count) {
    return traffic -> {
      traffic.rings = count;
      traffic.spread = true;
    };
  }

  /** Starts the traffic; the result is where it arrives. */
  Memory start(PushTraffic traffic) {
    sender.prepare(traffic, SEED);
    watch(checker, sender, traffic.rings);
    for (PushNode receiver : receivers) {
      receiver.engine().expectFrom(traffic.shape.first());
    }
    Memory inbox = receivers.getFirst().inbox((long) traffic.total() * traffic.bytes);
    sender.launch(inbox.address(), KERNEL_NANOS);
    return inbox;
  }

  /** Runs to the kernel's end. */
  RunOutcome run() {
    return fabric.run(sender::done, KERNEL_NANOS);
  }

  /** Runs the traffic to its end and returns the kernel's status. */
  int push(PushTraffic traffic) {
    Memory inbox = start(traffic);
    if (run() != RunOutcome.DONE) {
      throw new AssertionError("the kernel did not end: " + fabric.waiting());
    }
    fabric.quiesce();
    missing = sender.firstMissing(inbox, 0);
    return sender.outcome();
  }

  /** After {@link #push}: the first message that is not there as it was sent, or -1. */
  int missing = -1;

  @Override
  public void close() {
    sender.close();
    receivers.forEach(PushNode::close);
    source.close();
    target.close();
    fabric.close();
  }
}
