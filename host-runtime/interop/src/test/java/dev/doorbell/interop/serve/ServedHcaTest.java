package dev.doorbell.interop.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.fault.FaultTrigger;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.interop.access.AccessToken;
import dev.doorbell.interop.control.ControlClient;
import dev.doorbell.interop.control.ControlLine;
import dev.doorbell.interop.control.ControlPlace;
import dev.doorbell.interop.control.HostPort;
import dev.doorbell.interop.control.LineChannel;
import dev.doorbell.interop.control.SocketFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An HCA that others use: what it gives, what it takes back, what it refuses. */
class ServedHcaTest {
  private static final long LONG = 60_000_000_000L;

  @TempDir Path folder;

  /** The part of a test that uses an HCA, which a thread of its own serves. */
  private interface Visit {
    void at(ControlPlace control) throws Exception;
  }

  private static void serve(ServeOptions options, Visit visit) throws Exception {
    AtomicBoolean stop = new AtomicBoolean();
    CompletableFuture<ControlPlace> started = new CompletableFuture<>();
    Thread server =
        Thread.ofPlatform()
            .start(
                () -> {
                  try (HcaServer hca = new HcaServer(options)) {
                    started.complete(hca.control());
                    hca.run(stop::get);
                  } catch (EnvironmentException | RuntimeException e) {
                    started.completeExceptionally(e);
                  }
                });
    try {
      visit.at(started.get());
    } finally {
      stop.set(true);
      server.join();
    }
  }

  private static long stat(ControlClient client, String name) throws Exception {
    return client.call(ControlLine.of("stats")).number(name, 0, Long.MAX_VALUE);
  }

  private static void awaitStat(ControlClient client, String name, long value) throws Exception {
    while (stat(client, name) != value) {
      Thread.onSpinWait();
    }
  }

  private static ControlLine connect() {
    return ControlLine.of("connect")
        .with("hca", "127.0.0.1:9")
        .with("qpn", 256)
        .with("psn", 0)
        .with("mtu", 4096)
        .with("receives", 16);
  }

  @Test
  void writes_arrive_and_are_counted_and_the_client_leaves_nothing_behind() throws Exception {
    serve(
        ServeOptions.LOCAL,
        control -> {
          ServedWrites.run(control, 10_000, 200);
          try (ControlClient client = new ControlClient(control, LONG)) {
            // 10,000 bytes are 3 packets; a READ comes on top.
            assertThat(stat(client, "frames_in")).isGreaterThanOrEqualTo(4 * 50 * 3 + 1);
            awaitStat(client, "queue_pairs", 0);
            assertThat(stat(client, "memory_bytes")).isZero();
          }
        });
  }

  @Test
  void a_client_that_is_killed_leaves_nothing_behind() throws Exception {
    serve(
        ServeOptions.LOCAL,
        control -> {
          try (ControlClient witness = new ControlClient(control, LONG)) {
            try (SocketChannel doomed = control.open(LONG)) {
              // Ends as a killed process does: without a word.
              String asked = "region bytes=100000\n" + connect().text() + "\n" + "regi";
              doomed.write(StandardCharsets.US_ASCII.encode(asked));
              awaitStat(witness, "queue_pairs", 1);
              assertThat(stat(witness, "memory_bytes")).isGreaterThan(100_000);
            }
            awaitStat(witness, "clients", 1);
            assertThat(stat(witness, "queue_pairs")).isZero();
            assertThat(stat(witness, "memory_bytes")).isZero();
          }
        });
  }

  @Test
  void nobody_gets_more_than_there_is_and_nonsense_is_refused() throws Exception {
    ServeOptions small =
        new ServeOptions(
            "127.0.0.1",
            0,
            null,
            1024,
            1 << 20,
            2,
            2,
            FaultPlan.NONE,
            null,
            null,
            true,
            Adapter.DEFAULT);
    serve(
        small,
        control -> {
          try (ControlClient client = new ControlClient(control, LONG)) {
            for (String nonsense :
                List.of(
                    "region bytes=0",
                    "region bytes=1048577",
                    "region",
                    "fly",
                    "hello version=2",
                    "connect hca=nobody qpn=1 psn=0 mtu=1024",
                    "connect hca=127.0.0.1 qpn=1 psn=0 mtu=1000",
                    "connect hca=127.0.0.1 qpn=1 psn=0 mtu=1024 receives=3",
                    "release rkey=0x1234",
                    "disconnect qpn=77",
                    "pcap stop=now",
                    "pcap start=x.pcapng")) {
              assertThatThrownBy(() -> client.call(ControlLine.parse(nonsense)))
                  .as(nonsense)
                  .isInstanceOf(EnvironmentException.class);
            }
            assertThat(stat(client, "memory_bytes")).isZero();
            client.call(ControlLine.of("region").with("bytes", 800_000));
            assertThatThrownBy(() -> client.call(ControlLine.of("region").with("bytes", 300_000)))
                .hasMessageContaining("too many");
            ControlLine two = client.call(connect());
            client.call(connect());
            assertThatThrownBy(() -> client.call(connect())).hasMessageContaining("queue pairs");
            client.call(ControlLine.of("disconnect").with("qpn", two.word("qpn")));
            client.call(connect());
            try (ControlClient second = new ControlClient(control, LONG);
                ControlClient third = new ControlClient(control, LONG)) {
              assertThat(stat(second, "clients")).isEqualTo(2);
              assertThatThrownBy(() -> stat(third, "clients"))
                  .isInstanceOf(EnvironmentException.class);
            }
          }
        });
  }

  @Test
  void faults_are_counted_and_a_capture_starts_and_stops() throws Exception {
    FaultPlan plan =
        new FaultPlan(
            1,
            List.of(
                Fault.of(FaultAction.LOSE, FaultEvent.PACKET_RECEIVED, FaultTrigger.at(3)),
                Fault.of(FaultAction.CORRUPT, FaultEvent.PACKET_SENT, FaultTrigger.at(1 << 20))
                    .required(),
                // Not of the wire: it happens inside of the HCA.
                Fault.of(FaultAction.RELAXED_ORDERING, FaultEvent.PAYLOAD, FaultTrigger.at(5))));
    Path file = folder.resolve("served.pcapng");
    serve(
        ServeOptions.LOCAL.withFaults(plan).withCaptures(folder),
        control -> {
          try (ControlClient client = new ControlClient(control, LONG)) {
            client.call(ControlLine.of("pcap").with("start", "served.pcapng"));
            assertThatThrownBy(
                    () -> client.call(ControlLine.of("pcap").with("start", "other.pcapng")))
                .hasMessageContaining("running");
            ServedWrites.run(control, 64, 160);
            ControlLine faults = client.call(ControlLine.of("faults"));
            assertThat(faults.word("f0.fired")).isEqualTo("1");
            assertThat(faults.word("f0.missed")).isEqualTo("false");
            assertThat(faults.word("f1.missed")).isEqualTo("true");
            assertThat(faults.word("f2.fired")).isEqualTo("1");
            ControlLine stopped = client.call(ControlLine.of("pcap").with("stop", "now"));
            assertThat(stopped.number("frames", 0, 1 << 20)).isGreaterThan(160);
            assertThat(Files.size(file)).isGreaterThan(160 * 64);
            assertThatThrownBy(
                    () -> client.call(ControlLine.of("pcap").with("start", "served.pcapng")))
                .hasMessageContaining("exists already");
          }
        });
  }

  @Test
  void a_place_that_is_taken_is_refused() throws Exception {
    serve(
        ServeOptions.LOCAL,
        control -> {
          ServeOptions same = ServeOptions.LOCAL.withControl(control);
          assertThatThrownBy(() -> new HcaServer(same))
              .isInstanceOf(EnvironmentException.class)
              .hasMessageContaining("another process answers there");
        });
  }

  @Test
  void a_capture_is_written_below_the_named_folder_alone() throws Exception {
    Path traces = Files.createDirectory(folder.resolve("traces"));
    Path outside = Files.createDirectory(folder.resolve("outside"));
    Files.createDirectory(traces.resolve("today"));
    Files.createSymbolicLink(traces.resolve("away"), outside);
    Files.createSymbolicLink(traces.resolve("link.pcapng"), outside.resolve("through.pcapng"));
    serve(
        ServeOptions.LOCAL.withCaptures(traces),
        control -> {
          try (ControlClient client = new ControlClient(control, LONG)) {
            for (String name :
                List.of(
                    "../outside/x.pcapng",
                    "today/../../outside/x.pcapng",
                    outside + "/x.pcapng",
                    "away/x.pcapng",
                    "link.pcapng",
                    "missing/x.pcapng",
                    "..",
                    ".",
                    "",
                    "x\0y")) {
              assertThatThrownBy(() -> client.call(ControlLine.of("pcap").with("start", name)))
                  .as(name)
                  .isInstanceOf(EnvironmentException.class);
            }
            assertThat(outside).isEmptyDirectory();
            client.call(ControlLine.of("pcap").with("start", "today/x.pcapng"));
            client.call(ControlLine.of("pcap").with("stop", "now"));
            assertThat(traces.resolve("today/x.pcapng")).isNotEmptyFile();
          }
        });
  }

  @Test
  void only_its_user_can_open_the_socket_of_an_hca() throws Exception {
    Path file = folder.resolve("private/hca.socket");
    serve(
        ServeOptions.LOCAL.withControl(new SocketFile(file)),
        control -> {
          assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
              .isEqualTo("rw-------");
          assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())))
              .isEqualTo("rwx------");
          try (ControlClient client = new ControlClient(control, LONG)) {
            assertThat(stat(client, "clients")).isEqualTo(1);
          }
        });
    assertThat(file).doesNotExist();
    Path open =
        Files.setPosixFilePermissions(
            folder.resolve("private"), PosixFilePermissions.fromString("rwxr-x---"));
    assertThatThrownBy(
            () ->
                new HcaServer(
                    ServeOptions.LOCAL.withControl(new SocketFile(open.resolve("hca.socket")))))
        .hasMessageContaining("other users can enter");
  }

  @Test
  void over_tcp_a_client_shows_the_token_or_is_refused() throws Exception {
    AccessToken token = AccessToken.random();
    assertThatThrownBy(() -> ServeOptions.LOCAL.withControl(new HostPort("127.0.0.1", 0, null)))
        .isInstanceOf(IllegalArgumentException.class);
    serve(
        ServeOptions.LOCAL.withControl(new HostPort("127.0.0.1", 0, token)),
        control -> {
          int port = ((HostPort) control).port();
          try (ControlClient client = new ControlClient(control, LONG)) {
            assertThat(stat(client, "clients")).isEqualTo(1);
            for (AccessToken wrong : Arrays.asList(null, AccessToken.random())) {
              try (ControlClient stranger =
                  new ControlClient(new HostPort("127.0.0.1", port, wrong), LONG)) {
                assertThatThrownBy(() -> stat(stranger, "clients"))
                    .isInstanceOf(EnvironmentException.class)
                    .hasMessageContaining("token");
              }
            }
            // Connections that say nothing keep nobody out.
            List<SocketChannel> silent = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
              silent.add(control.open(LONG));
            }
            try (ControlClient second = new ControlClient(control, LONG)) {
              assertThat(stat(second, "clients_ever")).isEqualTo(2);
            }
            for (SocketChannel each : silent) {
              each.close();
            }
          }
        });
  }

  @Test
  void a_line_without_an_end_ends_the_connection() throws Exception {
    serve(
        ServeOptions.LOCAL,
        control -> {
          try (SocketChannel rude = control.open(LONG)) {
            byte[] much = new byte[LineChannel.MAX_LINE + 1];
            Arrays.fill(much, (byte) 'x');
            assertThat(endsByItself(rude, ByteBuffer.wrap(much))).isTrue();
          }
        });
  }

  private static boolean endsByItself(SocketChannel socket, ByteBuffer content) {
    try {
      while (content.hasRemaining()) {
        socket.write(content);
      }
      return socket.read(ByteBuffer.allocate(1)) < 0;
    } catch (IOException e) {
      return true;
    }
  }
}
