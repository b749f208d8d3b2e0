package dev.doorbell.softhca.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Wireshark's dissectors, where they are installed. */
final class Tshark {
  private Tshark() {}

  /** Skips the test where there is none. */
  static void require() {
    boolean found =
        Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":"))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "tshark")));
    assumeTrue(found, "tshark is not installed; apt-get install tshark");
  }

  /**
   * What tshark prints of a capture, one line a frame that {@code filter} selects.
   *
   * @param port the UDP port that RoCE has in it
   */
  static List<String> lines(Path capture, int port, String filter, String... fields) {
    // Wireshark takes any payload for a guess at RPC over RDMA, and an empty one for a bad guess.
    Stream<String> options =
        Stream.of(
            "tshark",
            "-n",
            "-d",
            "udp.port==%d,infiniband".formatted(port),
            "--disable-protocol",
            "rpcordma",
            "-r",
            capture.toString(),
            "-Y",
            filter,
            "-T",
            "fields");
    List<String> command =
        Stream.concat(options, Arrays.stream(fields).flatMap(field -> Stream.of("-e", field)))
            .toList();
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(600, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).as("exit status of %s", command).isZero();
      return out.lines().toList();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Every frame is a RoCE packet or ARP or neighbour discovery, and none is malformed. */
  static void assertSound(Path capture, List<Integer> ports, long roce) {
    require();
    long understood = 0;
    for (int port : ports) {
      assertThat(lines(capture, port, "_ws.malformed || _ws.short", "frame.number")).isEmpty();
      String mine =
          ports.size() == 1 ? "infiniband.bth" : "infiniband.bth && udp.dstport == " + port;
      understood += lines(capture, port, mine, "frame.number").size();
    }
    assertThat(understood).isEqualTo(roce);
  }
}
