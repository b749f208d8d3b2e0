package dev.doorbell.interop.serve;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.FabricMemory;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.interop.control.ControlLine;
import dev.doorbell.interop.control.ControlLine.Refused;
import dev.doorbell.interop.control.ControlPlace;
import dev.doorbell.interop.control.HostPort;
import dev.doorbell.interop.control.LineChannel;
import dev.doorbell.interop.control.LineServer;
import dev.doorbell.interop.control.SocketFile;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.wire.RoceWire;
import dev.doorbell.softhca.wire.RoceWire.Idleness;
import dev.doorbell.softhca.wire.RoceWire.PeerPort;
import dev.doorbell.softhca.wire.RoceWire.WireCounters;
import dev.doorbell.softhca.wire.WireCapture;
import dev.doorbell.softhca.wire.WireFaults;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves a software HCA to other processes. One thread does everything: it steps the HCA and its
 * wire and answers clients in between, so no state needs a lock.
 */
public final class HcaServer implements AutoCloseable {
  private static final long RESERVED = 1L << 30;

  /** Time between two polls of the clients while there is traffic. */
  private static final long SLICE_NANOS = 500_000;

  /** The same without traffic. A packet ends the wait at once; a request may wait this long. */
  private static final long IDLE_NANOS = 5_000_000;

  private static final long MAX_CAPTURE_BYTES = 4L << 30;
  private static final int FAULTS_AT_ONCE = 32;
  private static final int QUEUE_PAIR_SPARE = 16;

  private final ServeOptions options;
  private final DirectFabric fabric;
  private final FaultInjector faults;
  private final RoceWire wire;
  private final SoftHca hca;
  private final MemoryProvider memory;
  private final LineServer server;
  private final @Nullable CaptureFolder captures;
  private final List<ClientSession> sessions = new ArrayList<>();
  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final long started = System.nanoTime();
  private long bytesTaken;
  private int queuePairsTaken;
  private long sessionsEver;
  private long answers;
  private @Nullable WireCapture capture;
  private @Nullable String captureFile;
  private @Nullable String captureError;
  private long captureFrom;

  /**
   * Opens an HCA for other processes.
   *
   * @throws EnvironmentException when a port is in use, or the plan has faults that a wire does not
   *     have
   */
  public HcaServer(ServeOptions options) throws EnvironmentException {
    this.options = options;
    fabric =
        new DirectFabric(AddressSpace.reserve(Math.max(RESERVED, 2 * options.memoryBytes())), 0);
    RoceWire opened = null;
    LineServer listening = null;
    CaptureFolder folder = null;
    try {
      opened =
          RoceWire.udp(
              fabric,
              Locus.nic(0, 0),
              Gid.parse(options.address()),
              options.port(),
              WireFaults.NONE,
              options.strictPeerPort() ? PeerPort.STRICT : PeerPort.ANY);
      folder = options.captures() == null ? null : new CaptureFolder(options.captures());
      listening = listen(options.control(), opened.port());
    } catch (HcaException | IllegalArgumentException | IOException e) {
      throw abandon(opened, listening, String.valueOf(e.getMessage()));
    } catch (EnvironmentException e) {
      abandon(opened, listening, "");
      throw e;
    }
    wire = opened;
    server = listening;
    captures = folder;
    SoftHcaOptions.Limits limits = SoftHcaOptions.DEFAULT.limits();
    hca =
        new SoftHca(
            fabric,
            Locus.nic(0, 0),
            "served",
            SoftHcaOptions.DEFAULT
                .withRandomNumbers()
                .withAdapter(options.adapter())
                .withEngine(HostQueuePair.ENGINE.withMtu(options.mtu()))
                .withLimits(
                    new SoftHcaOptions.Limits(
                        options.queuePairs() + QUEUE_PAIR_SPARE,
                        limits.minSendBlocks(),
                        limits.maxSendBlocks(),
                        limits.completionEntries(),
                        limits.inlineBytes(),
                        limits.onChipBytes(),
                        limits.blueFlameBytes(),
                        limits.messageBytes(),
                        limits.readAtomic(),
                        limits.receiveSegments())));
    wire.join(hca);
    faults = options.faults().bind(0, 0, fabric.now());
    if (!options.faults().faults().isEmpty()) {
      hca.inject(faults);
    }
    memory = FabricMemory.of(fabric.memory(), 0);
    if (options.capture() != null) {
      try {
        startCapture(Files.createFile(options.capture()));
      } catch (Refused | IOException e) {
        String why =
            e instanceof FileAlreadyExistsException
                ? "it exists already"
                : "it cannot be created: " + e.getMessage();
        close();
        throw new EnvironmentException(
            Problem.of("DB-E046", options.capture().toString(), why)
                .fix("name a new file in a folder that can be written"));
      }
    }
  }

  private static LineServer listen(@Nullable ControlPlace at, int udpPort)
      throws EnvironmentException {
    return switch (at) {
      case HostPort tcp when tcp.port() == 0 ->
          LineServer.tcp(new HostPort(tcp.host(), udpPort, tcp.token()));
      case HostPort tcp -> LineServer.tcp(tcp);
      case SocketFile file -> LineServer.local(file);
      case null -> LineServer.local(SocketFile.ofPort(udpPort));
    };
  }

  private EnvironmentException abandon(
      @Nullable RoceWire opened, @Nullable LineServer listening, String why) {
    if (opened != null) {
      opened.close();
    }
    if (listening != null) {
      listening.close();
    }
    fabric.close();
    return new EnvironmentException(
        Problem.of("DB-E044", null, "cannot serve an HCA: " + why)
            .fix("choose another --port or --address, or other --faults"));
  }

  ServeOptions options() {
    return options;
  }

  MemoryProvider memory() {
    return memory;
  }

  /** A domain of its own for a client: no key of another one is valid in it. */
  ProtectionDomain newDomain() {
    return hca.allocateProtectionDomain();
  }

  /** Returns the address of its packets: GID and UDP port, as peers name it. */
  public String address() {
    return wire.address().toString();
  }

  /** Returns the place at which it accepts requests. */
  public ControlPlace control() {
    return server.place();
  }

  /** Reserves memory and queue pairs for a client. */
  void reserve(long bytes, int queuePairs) throws Refused {
    if (bytes > options.memoryBytes() - bytesTaken) {
      throw new Refused(
          "%d bytes are too many: %d of %d are taken"
              .formatted(bytes, bytesTaken, options.memoryBytes()));
    }
    if (queuePairs > options.queuePairs() - queuePairsTaken) {
      throw new Refused("all %d queue pairs are taken".formatted(queuePairsTaken));
    }
    bytesTaken += bytes;
    queuePairsTaken += queuePairs;
  }

  void release(long bytes, int queuePairs) {
    bytesTaken -= bytes;
    queuePairsTaken -= queuePairs;
  }

  /** Serves until {@code stop}. Call it on the thread that created the server. */
  public void run(BooleanSupplier stop) {
    Idleness idleness = new Idleness(List.of(wire));
    BooleanSupplier poll =
        () -> {
          idleness.look();
          return false;
        };
    long seen = -1;
    while (!stop.getAsBoolean()) {
      try {
        fabric.run(poll, SLICE_NANOS);
      } catch (UncheckedIOException e) {
        stopCapture("the capture ended: " + e.getMessage());
      }
      boolean answered = serveClients();
      long now = wire.carried();
      if (now == seen && !answered) {
        idleness.await(IDLE_NANOS);
      }
      seen = now;
    }
  }

  /** Answers what clients have asked by now; returns true when a request has been answered. */
  public boolean serveClients() {
    LineChannel accepted = server.accept();
    long answersBefore = answers;
    if (accepted != null) {
      if (sessions.size() < options.clients()) {
        sessions.add(new ClientSession(this, accepted));
        sessionsEver++;
      } else {
        accepted.send(
            ControlLine.error("%d clients are connected already".formatted(sessions.size())));
        accepted.close();
      }
    }
    for (int i = sessions.size() - 1; i >= 0; i--) {
      if (!sessions.get(i).poll()) {
        sessions.remove(i).close();
      }
    }
    if (capture != null) {
      capture.flushEachSecond();
    }
    if (capture != null && carried() - captureFrom > MAX_CAPTURE_BYTES) {
      stopCapture("the capture ended at %d GiB".formatted(MAX_CAPTURE_BYTES >> 30));
    }
    return answers != answersBefore;
  }

  /** Counts an answer to a client. */
  void countAnswer() {
    answers++;
  }

  /** Bytes of all packets, in both directions. */
  long carried() {
    WireCounters counters = wire.counters();
    return counters.bytesIn() + counters.bytesOut();
  }

  /** The counters that clients see. */
  public ControlLine stats() {
    WireCounters counters = wire.counters();
    return ControlLine.ok()
        .with("hca", address())
        .with("cpu_nanos", threads.getCurrentThreadCpuTime())
        .with("seconds", (System.nanoTime() - started) / 1_000_000_000)
        .with("clients", sessions.size())
        .with("clients_ever", sessionsEver)
        .with("queue_pairs", queuePairsTaken)
        .with("memory_bytes", bytesTaken)
        .with("frames_in", counters.framesIn())
        .with("bytes_in", counters.bytesIn())
        .with("frames_out", counters.framesOut())
        .with("bytes_out", counters.bytesOut())
        .with("bad_icrc", counters.badIcrc())
        .with("malformed", counters.malformed())
        .with("not_for_us", counters.notForUs())
        .with("strangers", hca.strangers())
        .with("kernel_drops", counters.kernelDrops())
        .with("refused", counters.refused())
        .with("stalls", counters.stalls())
        .with("faults", faultCounts().stream().mapToLong(FaultCount::fired).sum())
        .with("capture", captureState());
  }

  private String captureState() {
    WireCapture running = capture;
    if (running != null) {
      return "%s, %d frames".formatted(captureFile, running.frames());
    }
    return captureError == null ? "none" : captureError;
  }

  /** The counts of the plan's faults. */
  private List<FaultCount> faultCounts() {
    return FaultCount.total(options.faults(), List.of(faults));
  }

  ControlLine faults(long from) {
    List<FaultCount> counts = faultCounts();
    ControlLine answer = ControlLine.ok().with("faults", counts.size());
    for (int i = (int) from; i < Math.min(counts.size(), from + FAULTS_AT_ONCE); i++) {
      FaultCount count = counts.get(i);
      answer =
          answer
              .with("f%d.text".formatted(i), count.fault().text())
              .with("f%d.events".formatted(i), count.events())
              .with("f%d.fired".formatted(i), count.fired())
              .with("f%d.missed".formatted(i), count.missed());
    }
    return answer;
  }

  ControlLine pcap(ControlLine question) throws Refused {
    if (question.values().containsKey("stop")) {
      WireCapture running = capture;
      if (running == null) {
        throw new Refused("no capture is running");
      }
      ControlLine answer = ControlLine.ok().with("file", captureFile == null ? "" : captureFile);
      stopCapture(null);
      return answer.with("frames", running.frames());
    }
    CaptureFolder below = captures;
    if (below == null) {
      throw new Refused("captures need a folder: hca serve --captures FOLDER");
    }
    requireNoCapture();
    startCapture(below.create(question.word("start")));
    return ControlLine.ok().with("file", captureFile == null ? "" : captureFile);
  }

  private void requireNoCapture() throws Refused {
    if (capture != null) {
      throw new Refused("a capture is running: " + captureFile);
    }
  }

  private void startCapture(Path file) throws Refused {
    try {
      WireCapture begun =
          WireCapture.create(
              file, "doorbell hca serve at " + address(), fabric.basis(), fabric.now());
      wire.capture(begun);
      capture = begun;
      captureFile = file.toString();
      captureFrom = carried();
    } catch (IOException e) {
      throw new Refused("cannot write %s: %s".formatted(file, e.getMessage()));
    }
  }

  private void stopCapture(@Nullable String error) {
    WireCapture running = capture;
    wire.capture(null);
    capture = null;
    captureError = error;
    if (running != null) {
      try {
        running.close();
      } catch (UncheckedIOException e) {
        captureError = "the end of the capture was not written: " + e.getMessage();
      }
    }
  }

  /** Closes every client's queue pairs and regions, and the capture. */
  @Override
  public void close() {
    sessions.forEach(ClientSession::close);
    sessions.clear();
    server.close();
    if (capture != null) {
      stopCapture(null);
    }
    hca.close();
    fabric.close();
  }
}
