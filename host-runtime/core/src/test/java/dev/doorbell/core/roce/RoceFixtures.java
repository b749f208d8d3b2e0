package dev.doorbell.core.roce;

import dev.doorbell.core.pcap.Capture;
import dev.doorbell.core.pcap.CaptureException;
import dev.doorbell.core.pcap.CaptureReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Captures of Linux Soft-RoCE talking to itself, and what Wireshark's dissector said of them. */
final class RoceFixtures {
  /** Every capture that has notes. */
  static final List<String> NOTED =
      List.of(
          "fetch_add",
          "nak_access",
          "nak_seq",
          "read",
          "rnr",
          "rnr_exceeded",
          "send",
          "send_imm",
          "timeout",
          "two_writes",
          "wrap_write",
          "write",
          "write_4096",
          "write_imm",
          "write_small",
          "write_zero");

  private RoceFixtures() {}

  static List<String> all() {
    List<String> all = new ArrayList<>(NOTED);
    all.add("interop");
    return all;
  }

  static byte[] bytes(String name) {
    try (InputStream in = RoceFixtures.class.getResourceAsStream(name)) {
      return Objects.requireNonNull(in, name).readAllBytes();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  static Capture capture(String name) {
    try {
      return CaptureReader.read(bytes(name + ".pcapng"));
    } catch (CaptureException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The lines of a capture's notes that describe frames, each split at blanks. */
  static List<String[]> notes(String name) {
    return new String(bytes(name + ".txt"), StandardCharsets.UTF_8)
        .lines()
        .filter(line -> !line.startsWith("#"))
        .map(line -> line.trim().split("\\s+"))
        .toList();
  }
}
