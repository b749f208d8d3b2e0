package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.timed.machine.Network;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.mlx5.CqePrinter;
import dev.doorbell.core.mlx5.DoorbellPrinter;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.WqePrinter;
import dev.doorbell.core.pcap.CaptureException;
import dev.doorbell.core.pcap.CaptureReader;
import dev.doorbell.core.pcap.CapturedFrame;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.core.trace.TraceEvent;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.plan.Timeline.Kind;
import dev.doorbell.experiments.plan.Timeline.Step;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.Protocols;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.ProtocolTrial;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.experiments.scenario.world.WorldBuilder;
import dev.doorbell.softhca.wire.WireCapture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One message of a point in virtual time, with everything that happens to it. */
final class TracedTransfer {
  private static final long SECOND = 1_000_000_000L;

  /** Preamble, frame check sequence and the least gap, which no capture has. */
  private static final int BESIDE_FRAME = 8 + 4 + 12;

  /** The source address of an Ethernet frame: bytes 6 to 11. */
  private static final int SOURCE = 6;

  private static final int SOURCE_END = 12;

  private static final PointContext CONTEXT =
      new PointContext() {
        @Override
        public boolean cancelled() {
          return false;
        }

        @Override
        public void log(String line) {}
      };

  private final Point point;
  private final TransferSettings settings;
  private final Topology topology;
  private final Protocols protocols;

  TracedTransfer(TransferSettings settings, Topology topology, Protocols protocols) {
    this.point = settings.point();
    this.settings = settings;
    this.topology = topology;
    this.protocols = protocols;
  }

  /**
   * Runs it.
   *
   * @param into where the packets are kept; null for nowhere
   */
  public Timeline run(@Nullable Path into) throws PointFailure {
    try {
      Path file = into == null ? Files.createTempFile("doorbell", ".pcapng") : into;
      try {
        return trace(file);
      } finally {
        if (into == null) {
          Files.deleteIfExists(file);
        }
      }
    } catch (IOException e) {
      throw failure("the packets cannot be kept: " + e.getMessage());
    }
  }

  private Timeline trace(Path file) throws PointFailure, IOException {
    Protocol protocol = protocols.goodput(point);
    boolean streams = protocol != null;
    if (protocol == null) {
      protocol = protocols.latency(point);
    }
    if (protocol == null) {
      throw failure("none of its kernels sends a message");
    }
    if (protocol.descriptor().launch().allRanks()) {
      throw failure("a timeline is of one message between two ranks, and its kernel runs at all");
    }
    TransferPlan plan = new TransferPlan(settings, protocol, SECOND, SECOND);
    EventRecorder recorder = new EventRecorder();
    World world =
        new WorldBuilder(new ExecutionBackend.Virtual(), topology)
            .mtu(settings.queues().mtu())
            .seed(point.seed())
            .adapter(settings.queues().nic().adapter())
            .trace(recorder)
            .open();
    try (ProtocolTrial trial = plan.trial(world, 0, 1, 0)) {
      try (WireCapture capture =
          WireCapture.create(
              file, "one message of " + point.id(), Basis.MODELLED, world.fabric().now())) {
        world.capture(capture);
        recorder.clear();
        new PointRun<>(point, settings, CONTEXT, topology, new ExecutionBackend.Virtual())
            .await(trial, SECOND);
      } catch (GpuException e) {
        throw failure(String.valueOf(e.getMessage()));
      }
      String error = trial.firstError();
      if (error == null && !protocol.descriptor().launch().windowSlots()) {
        error = trial.mismatch();
      }
      if (error != null) {
        throw failure(error);
      }
      List<Step> steps = new Steps(trial.connection(), trial.rank(0)).of(recorder.byTime());
      packets(file, steps);
      return timeline(steps, streams);
    }
  }

  /** Translates the events of a trace into the message's steps. */
  private static final class Steps {
    private final RankBuffers sender;
    private final long ring;
    private final long ringEnd;
    private final long record;
    private final long register;
    private final long registerEnd;
    private final int qpn;
    private final long completions;
    private final List<Step> steps = new ArrayList<>();

    Steps(Connection connection, RankBuffers sender) {
      Endpoint endpoint = connection.endpoints(0).getFirst();
      this.sender = sender;
      this.ring = endpoint.queuePair().sendRingAddress();
      this.ringEnd = ring + (long) SendQueue.BLOCK * 256;
      this.record = endpoint.queuePair().recordAddress() + Integer.BYTES;
      this.register = endpoint.queuePair().doorbellAddress();
      this.registerEnd =
          register + Math.max(Long.BYTES, 2L * endpoint.queuePair().blueFlameBytes());
      this.qpn = endpoint.queuePair().number();
      this.completions = endpoint.completions().ringAddress();
    }

    List<Step> of(List<TraceEvent> events) {
      for (TraceEvent event : events) {
        step(event);
      }
      return steps;
    }

    private void step(TraceEvent event) {
      boolean first = event.locus().rank() == 0;
      switch (event.kind()) {
        case STORE -> {
          if (first) {
            store(event);
          }
        }
        case FENCE -> {
          if (first && event.value() > 0) {
            String text = "%s, %d ns".formatted(event.text(), event.value());
            add(Kind.FENCE, event.nanos() - event.value(), event.nanos(), event, 0, text);
          }
        }
        case TLP -> travel(event);
        case COMMAND -> at(Kind.COMMAND, event, event.text());
        case MMIO -> grow(Kind.DOORBELL, event, event.text() + " arrives at the HCA");
        case WQE_FETCHED -> at(Kind.WQE, event, event.text());
        case PAYLOAD_GATHERED -> at(Kind.PAYLOAD, event, event.text());
        case EMITTED -> at(Kind.EMITTED, event, event.text());
        case PAYLOAD_VISIBLE -> landed(Kind.VISIBLE, event, "payload visible at the target");
        case CQE -> {
          if (first && event.subject() == qpn) {
            landed(Kind.CQE, event, CqePrinter.line(completions));
          }
        }
        case LOAD, NOTE -> {}
      }
    }

    private void store(TraceEvent event) {
      long to = event.subject();
      if (to >= ring && to < ringEnd) {
        grow(Kind.WQE_STORE, event, WqePrinter.line(ring));
      } else if (to == record) {
        at(Kind.RECORD_STORE, event, "record <- " + DoorbellRecord.decode((int) event.value()));
      } else if (to >= register && to < registerEnd) {
        String text =
            event.bytes() == Long.BYTES && to == register
                ? DoorbellPrinter.line(event.value())
                : "BlueFlame write";
        grow(Kind.DOORBELL_STORE, event, text);
      } else if (sender.stages(to)) {
        grow(Kind.PAYLOAD_STORE, event, "payload to the staging area");
      }
    }

    private void travel(TraceEvent event) {
      String[] words = event.text().split(" ", -1);
      String[] ends = words[words.length - 1].split(">", -1);
      Kind kind =
          switch (words[0]) {
            case "MWr" -> Kind.WRITE_TLP;
            case "MRd" -> Kind.READ_TLP;
            default -> Kind.COMPLETION_TLP;
          };
      steps.add(
          new Step(
              event.nanos(), event.value(), ends[0], ends[1], kind, event.bytes(), event.text()));
    }

    private void at(Kind kind, TraceEvent event, String text) {
      add(kind, event.nanos(), event.nanos(), event, event.bytes(), text);
    }

    /** A step at the place where the write that the event is about has arrived. */
    private void landed(Kind kind, TraceEvent event, String text) {
      String from = event.locus().toString();
      String place =
          steps.reversed().stream()
              .filter(step -> step.kind() == Kind.WRITE_TLP && step.place().equals(from))
              .filter(step -> step.until() == event.nanos())
              .map(Step::target)
              .findFirst()
              .orElse(from);
      steps.add(new Step(event.nanos(), event.nanos(), place, place, kind, event.bytes(), text));
    }

    private void add(Kind kind, long from, long until, TraceEvent event, long bytes, String text) {
      String place = event.locus().toString();
      steps.add(new Step(from, until, place, place, kind, bytes, text));
    }

    /** Stores of one kind with nothing else of that thread between them are one step. */
    private void grow(Kind kind, TraceEvent event, String text) {
      String place = event.locus().toString();
      for (int i = steps.size() - 1; i >= 0; i--) {
        Step last = steps.get(i);
        if (last.kind().travels() || !last.place().equals(place)) {
          continue;
        }
        if (last.kind() == kind) {
          steps.set(
              i,
              new Step(
                  last.from(),
                  event.nanos(),
                  place,
                  place,
                  kind,
                  last.bytes() + event.bytes(),
                  text));
          return;
        }
        break;
      }
      at(kind, event, text);
    }
  }

  /** Packets leave when the capture says so; how long they take is the topology's. */
  private void packets(Path file, List<Step> steps) throws IOException, PointFailure {
    Network network = topology.network();
    long[] free = new long[2];
    try {
      List<CapturedFrame> frames = CaptureReader.read(file).frames();
      for (CapturedFrame frame : frames) {
        int from = sameSource(frame, frames.getFirst()) ? 0 : 1; // rank 0 speaks first
        double wire = (frame.bytes().length + BESIDE_FRAME) / network.bytesPerNano();
        free[from] = Math.max(free[from], frame.nanos()) + Math.round(wire);
        steps.add(
            new Step(
                frame.nanos(),
                free[from] + Math.round(network.nanos()),
                "rank%d.nic0".formatted(from),
                "rank%d.nic0".formatted(1 - from),
                Kind.PACKET,
                frame.bytes().length,
                "frame of %d bytes".formatted(frame.bytes().length)));
      }
    } catch (CaptureException e) {
      throw failure(String.valueOf(e.getMessage()));
    }
  }

  private static boolean sameSource(CapturedFrame one, CapturedFrame other) {
    return Arrays.equals(one.bytes(), SOURCE, SOURCE_END, other.bytes(), SOURCE, SOURCE_END);
  }

  /** From the first store of the sender until its CQE; a reply is another message. */
  private Timeline timeline(List<Step> steps, boolean streams) {
    long start =
        steps.stream()
            .filter(step -> !step.kind().travels() && step.kind() != Kind.FENCE)
            .mapToLong(Step::from)
            .min()
            .orElse(0);
    long end =
        steps.stream()
            .filter(step -> step.kind() == Kind.CQE)
            .mapToLong(Step::until)
            .min()
            .orElse(Long.MAX_VALUE);
    List<Step> kept =
        steps.stream()
            .filter(step -> step.from() >= start && step.from() <= end)
            .map(
                step ->
                    new Step(
                        step.from() - start,
                        step.until() - start,
                        step.place(),
                        step.target(),
                        step.kind(),
                        step.bytes(),
                        step.text()))
            .sorted(Comparator.comparingLong(Step::from).thenComparingLong(Step::until))
            .toList();
    String kernel = streams ? "one message" : "one message of a ping-pong";
    return new Timeline("%s, %s".formatted(kernel, point.id()), kept);
  }

  private PointFailure failure(String what) {
    return new PointFailure(
        PointFailure.Kind.FAILED,
        Problem.of("DB-P030", point.id(), what).effect("no timeline of this point"));
  }

  static final class EventRecorder implements Trace {
    private final List<TraceEvent> events = new ArrayList<>();

    @Override
    public boolean enabled() {
      return true;
    }

    @Override
    public void record(TraceEvent event) {
      events.add(event);
    }

    void clear() {
      events.clear();
    }

    List<TraceEvent> byTime() {
      List<TraceEvent> ordered = new ArrayList<>(events);
      ordered.sort(Comparator.comparingLong(TraceEvent::nanos));
      return ordered;
    }
  }
}
