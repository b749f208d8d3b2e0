package dev.doorbell.experiments.fuzz.run;

import dev.doorbell.experiments.fuzz.FuzzTarget;
import dev.doorbell.experiments.fuzz.FuzzTarget.Outcome;
import dev.doorbell.experiments.fuzz.Mutator;
import dev.doorbell.interop.control.ControlLine;
import dev.doorbell.interop.control.SocketFile;
import dev.doorbell.interop.serve.HcaServer;
import dev.doorbell.interop.serve.ServeOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Lines to the control socket of a served HCA, each input over a connection of its own. What it was
 * given has to be taken back when the connection ends, and no file may appear beside the folder of
 * captures.
 */
final class ControlSession implements FuzzTarget.Session {
  private static final int ANSWER_BYTES = 1 << 20;
  private static final long CONNECT_NANOS = 5_000_000_000L;

  private final Path folder;
  private final HcaServer server;
  private final ByteBuffer answers = ByteBuffer.allocateDirect(ANSWER_BYTES);
  private final Map<String, String> before;

  ControlSession() throws Exception {
    folder = Files.createTempDirectory("doorbell-fuzz");
    Path captures = Files.createDirectory(folder.resolve("captures"));
    server =
        new HcaServer(
            ServeOptions.LOCAL
                .withControl(new SocketFile(folder.resolve("control").resolve("socket")))
                .withCaptures(captures));
    before = given();
  }

  /** What clients have at this moment. */
  private Map<String, String> given() {
    Map<String, String> stats = server.stats().values();
    return Map.of(
        "clients", stats.getOrDefault("clients", ""),
        "queue pairs", stats.getOrDefault("queue_pairs", ""),
        "memory", stats.getOrDefault("memory_bytes", ""));
  }

  @Override
  public List<byte[]> seeds() {
    return Mutator.bytes(
        "hello version=1\nstats\n",
        "region bytes=4096\nrelease rkey=0x1234\nregion bytes=100000\nregion bytes=1\n",
        """
        connect hca=127.0.0.1%3A9 qpn=256 psn=0 mtu=4096 receives=16 receive_bytes=64
        received qpn=256
        disconnect qpn=256
        """,
        "pcap start=a.pcapng\npcap stop=now\nfaults from=0\n",
        "pcap start=..%2Fb.pcapng\n");
  }

  @Override
  public List<byte[]> dictionary() {
    return Mutator.bytes(
        "hello ",
        "region ",
        "release ",
        "connect ",
        "disconnect ",
        "received ",
        "stats\n",
        "faults ",
        "pcap ",
        "bytes=",
        "rkey=",
        "hca=",
        "qpn=",
        "psn=",
        "mtu=",
        "receives=",
        "receive_bytes=",
        "start=",
        "stop=",
        "from=",
        "version=",
        "%2F",
        "%00",
        "%zz",
        "[::1]",
        "10.0.0.1",
        "65536",
        "0x7fffffffffffffff");
  }

  @Override
  public Outcome read(byte[] input) throws IOException {
    ByteBuffer rest = ByteBuffer.wrap(input);
    int asked = 0;
    for (byte each : input) {
      asked += each == '\n' ? 1 : 0;
    }
    int answered = 0;
    boolean read = false;
    try (SocketChannel client = server.control().open(CONNECT_NANOS)) {
      client.configureBlocking(false);
      int count = 0;
      while (count >= 0 && (rest.hasRemaining() || answered < asked)) {
        count = send(client, rest);
        server.serveClients();
        answers.clear();
        count = count < 0 ? count : receive(client);
        String lines = StandardCharsets.US_ASCII.decode(answers.flip()).toString();
        answered += (int) lines.chars().filter(c -> c == '\n').count();
        read |=
            lines.startsWith(ControlLine.ok().text())
                || lines.contains("\n" + ControlLine.ok().text());
      }
    }
    while (!given().equals(before)) {
      server.serveClients();
    }
    try (Stream<Path> files = Files.list(folder)) {
      if (files.count() > 2) {
        return Outcome.MEMORY_CHANGED;
      }
    }
    return read ? Outcome.ACCEPTED : Outcome.REFUSED;
  }

  /** -1 when the server has ended the connection. */
  private static int send(SocketChannel client, ByteBuffer rest) {
    try {
      return client.write(rest);
    } catch (IOException e) {
      return -1;
    }
  }

  private int receive(SocketChannel client) {
    try {
      return client.read(answers);
    } catch (IOException e) {
      return -1;
    }
  }

  @Override
  public void close() {
    server.close();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new IllegalStateException("the fuzz leaves files in " + folder, e);
    }
  }
}
