package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.mlx5.CqePrinter;
import dev.doorbell.core.mlx5.DoorbellPrinter;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.WqePrinter;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.trace.TraceEvent;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.transfer.TracedTransfer.EventRecorder;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.World;
import java.io.PrintStream;
import java.util.List;

/** Prints one put of 64 bytes step by step with its virtual times. */
public final class Demo {
  private static final int BYTES = 64;
  private static final int RING = 64;
  private static final long SECOND = 1_000_000_000L;

  private final PrintStream out;

  public Demo(PrintStream out) {
    this.out = out;
  }

  public void run(Topology topology) throws PointFailure {
    EventRecorder recorder = new EventRecorder();
    Endpoint.Shape shape = Endpoint.Shape.builder(RING, SECOND).exclusive(true).build();
    try (World world = World.timed(topology, 2, 4096, 1, recorder);
        Connection connection = Connection.open(world, shape, Connection.Ringing.GPU, 1);
        RankBuffers zero = new RankBuffers(connection, world.rank(0), BYTES, 1);
        RankBuffers one = new RankBuffers(connection, world.rank(1), BYTES, 2)) {
      out.println("gpu ptx-vm   hca soft-hca   clock virtual   topology " + topology.name());
      out.printf("kernel post_once.ptx   1 block x 1 thread   %d B   rank0 -> rank1%n%n", BYTES);
      JobView job = new JobView();
      job.path = JobView.PATH_PULL;
      Launch launch = zero.launch("post_once", job, one, 1, 1, SECOND);
      RunOutcome outcome = world.fabric().run(launch::done, SECOND);
      check(launch, outcome, zero, one);
      Endpoint endpoint = connection.endpoints(0).getFirst();
      tell(recorder.byTime(), zero.started(), endpoint);
      out.printf("%n  the work request, bit by bit%n");
      WqePrinter.full(endpoint.queuePair().sendRingAddress())
          .lines()
          .forEach(line -> out.println("  " + line));
      out.printf(
          "%nverified %d of %d bytes.   MODELLED (virtual time): not a hardware measurement.%n",
          BYTES, BYTES);
    }
  }

  private static void check(Launch launch, RunOutcome outcome, RankBuffers zero, RankBuffers one)
      throws PointFailure {
    String firstError = outcome == RunOutcome.DONE ? zero.firstError() : "the kernel did not end";
    try {
      launch.check();
    } catch (GpuException e) {
      firstError = e.getMessage();
    }
    if (firstError == null) {
      firstError = one.mismatch(zero);
    }
    if (firstError != null) {
      throw new PointFailure(
          PointFailure.Kind.FAILED, Problem.of("DB-P001", "demo", firstError).effect("no demo"));
    }
  }

  private void tell(List<TraceEvent> events, long start, Endpoint endpoint) {
    long ring = endpoint.queuePair().sendRingAddress();
    long ringEnd = ring + (long) RING * SendQueue.BLOCK;
    long record = endpoint.queuePair().recordAddress() + Integer.BYTES;
    long register = endpoint.queuePair().doorbellAddress();
    int qpn = endpoint.queuePair().number();
    long stored = 0;
    for (TraceEvent event : events) {
      long at = event.subject();
      boolean first = event.locus().rank() == 0 && event.nanos() >= start;
      switch (event.kind()) {
        case STORE -> {
          if (first && at >= ring && at < ringEnd) {
            stored += event.bytes();
            if (at - ring == 2 * SendQueue.UNIT) {
              say(event, start, "WQE stored, %d B: %s".formatted(stored, WqePrinter.line(ring)));
            }
          } else if (first && at == record) {
            say(
                event,
                start,
                "doorbell record <- %d".formatted(DoorbellRecord.decode((int) event.value())));
          } else if (first && at == register) {
            say(event, start, DoorbellPrinter.line(event.value()) + " rung");
          }
        }
        case FENCE -> {
          if (first && event.value() > 0) {
            say(event, start, "%s, %d ns".formatted(event.text(), event.value()));
          }
        }
        case MMIO -> say(event, start, "doorbell arrives at the HCA");
        case WQE_FETCHED -> say(event, start, "WQE fetched: " + event.text());
        case PAYLOAD_GATHERED ->
            say(event, start, "payload read from GPU memory, %d B".formatted(event.bytes()));
        case EMITTED -> say(event, start, event.text());
        case PAYLOAD_VISIBLE -> say(event, start, "payload visible at rank 1");
        case CQE -> {
          if (at == qpn) {
            say(event, start, CqePrinter.line(endpoint.completions().ringAddress()));
          }
        }
        default -> {}
      }
    }
  }

  private void say(TraceEvent event, long start, String text) {
    out.printf("  t=%6d ns  %-10s  %s%n", event.nanos() - start, event.locus(), text);
  }
}
