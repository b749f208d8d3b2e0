package dev.doorbell.experiments.cli.decode;

import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.Terminal;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.fuzz.FuzzTarget;
import dev.doorbell.experiments.fuzz.FuzzTarget.Outcome;
import dev.doorbell.experiments.fuzz.Mutator;
import dev.doorbell.experiments.run.Disk;
import dev.doorbell.experiments.run.Interruption;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** What {@code doorbell decode} reads: captures, and entries of queues as bytes or digits. */
public final class DecodeTargets {
  private static final String FOLDER = "/dev/doorbell/experiments/fuzz/";
  private static final List<byte[]> WORDS =
      List.of(
          new byte[] {0x0a, 0x0d, 0x0d, 0x0a},
          new byte[] {(byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff},
          new byte[] {0x06, 0, 0, 0},
          new byte[] {0x45, 0, 0, 0x1c},
          new byte[] {0x12, (byte) 0xb7},
          "00000000: ".getBytes(StandardCharsets.US_ASCII),
          "0x".getBytes(StandardCharsets.US_ASCII),
          new byte[64]);

  private final PrintStream nowhere =
      new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
  private final CommandContext context =
      new CommandContext(
          new Terminal(nowhere, nowhere, false),
          () -> {
            throw new IllegalStateException("decoding needs no runtime");
          },
          new Disk(),
          Clock.systemUTC(),
          new Interruption(),
          List.of());

  /** Returns the targets. */
  public List<FuzzTarget> targets() {
    return List.of(
        target("capture", "packet", "captures (pcapng, pcap) and packets", "nak_seq.pcapng"),
        target("wqe", "wqe", "WQEs", "wqe.hex"),
        target("cqe", "cqe", "CQEs", "wqe.hex"),
        target("doorbell", "uar", "doorbells", "wqe.hex"));
  }

  private FuzzTarget target(String name, String format, String what, String first) {
    return FuzzTarget.of(name, what, () -> seeds(first), WORDS, input -> decode(format, input));
  }

  private static List<byte[]> seeds(String first) {
    List<byte[]> seeds = new ArrayList<>();
    Stream.of(first, "write.pcapng", "fetch_add.pcapng")
        .map(DecodeTargets::file)
        .forEach(seeds::add);
    seeds.addAll(Mutator.bytes("00000000 00010001 00000008 00000000"));
    seeds.add(new byte[64]);
    return seeds;
  }

  private static byte[] file(String name) {
    try (InputStream in = DecodeTargets.class.getResourceAsStream(FOLDER + name)) {
      return Objects.requireNonNull(in, name).readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Outcome decode(String format, byte[] input) {
    try {
      new DecodeCommand(new ByteArrayInputStream(input), format).run(context);
      return Outcome.ACCEPTED;
    } catch (UsageException _) {
      return Outcome.REFUSED;
    }
  }
}
