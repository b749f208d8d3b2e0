package dev.doorbell.experiments.cli.decode;

import dev.doorbell.core.pcap.CaptureException;
import dev.doorbell.core.pcap.CaptureReader;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.doctor.log.LogPattern;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.pasted.HexDump;
import dev.doorbell.experiments.pasted.PacketReport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/** Reads input of commands: a file or standard input, binary or as hexadecimal digits. */
public final class DecodeInput {
  /** What is decoded lies in memory whole, and each packet of it once more. */
  private static final long MOST_BYTES = Math.min(1L << 30, Runtime.getRuntime().maxMemory() / 4);

  private DecodeInput() {}

  /**
   * Reads a file, or standard input for {@code -}, as it is.
   *
   * @throws UsageException when it cannot be read
   */
  public static byte[] raw(String name, InputStream standardInput) throws UsageException {
    try {
      if (!name.equals("-") && Files.size(Path.of(name)) > MOST_BYTES) {
        throw new UsageException(
            Problem.of(
                    "DB-U027",
                    name,
                    "it has %,d MiB; %,d are read at once"
                        .formatted(Files.size(Path.of(name)) >> 20, MOST_BYTES >> 20))
                .effect("nothing was decoded")
                .fix(
                    "cut it up: editcap -c 500000 %s part.pcapng. A part that begins in the middle of"
                            .formatted(name)
                        + " a connection is no problem"));
      }
      return name.equals("-") ? standardInput.readAllBytes() : Files.readAllBytes(Path.of(name));
    } catch (IOException | InvalidPathException e) {
      throw new UsageException(
          Problem.of("DB-U020", name, reason(e)).fix("name a file, or - for standard input"));
    }
  }

  /**
   * Reads a file, or standard input for {@code -}: a capture, bytes, or the bytes that text spells.
   *
   * @throws UsageException when it cannot be read or holds nothing
   */
  static byte[] read(String name, InputStream standardInput) throws UsageException {
    byte[] bytes = raw(name, standardInput);
    byte[] decoded;
    try {
      decoded = CaptureReader.isCapture(bytes) ? bytes : fromHex(bytes);
    } catch (IllegalArgumentException e) {
      throw new UsageException(
          Problem.of(
                  "DB-U021",
                  name,
                  "it is text, and this line has other than pairs of hexadecimal digits: '%.60s'"
                      .formatted(e.getMessage()))
              .fix(
                  "give bytes, hexadecimal digits as of xxd or hexdump -C, or a capture; doorbell"
                      + " explain finds them in other text"));
    }
    if (decoded.length == 0) {
      throw new UsageException(
          Problem.of("DB-U021", name, "there is nothing to decode")
              .fix("give bytes, hexadecimal digits, or a capture"));
    }
    return decoded;
  }

  /**
   * Reads a capture, or one packet.
   *
   * @throws UsageException when the capture is damaged
   */
  public static PacketReport packets(String name, byte[] bytes, int port) throws UsageException {
    try {
      return PacketReport.of(bytes, port);
    } catch (CaptureException e) {
      throw new UsageException(
          Problem.of("DB-U024", name, "the capture is damaged " + e.getMessage())
              .fix("capture again, or repair it with editcap"));
    }
  }

  private static String reason(Exception e) {
    return switch (e) {
      case NoSuchFileException _ -> "there is no such file";
      case AccessDeniedException _ -> "there is no permission to read it";
      default -> "cannot be read: " + e.getMessage();
    };
  }

  /** Returns true for bytes that are text, in any of the encodings that logs have. */
  public static boolean isText(byte[] bytes) {
    for (byte b : bytes) {
      if (b >= 0 && b < ' ' && b != '\n' && b != '\r' && b != '\t' && b != 0x1b && b != '\f') {
        return false;
      }
    }
    return true;
  }

  /**
   * The bytes that text spells, or the bytes themselves when they are no text. Lines of logs that
   * stand between them are passed over.
   *
   * @throws IllegalArgumentException for text that spells none, with its first such line
   */
  static byte[] fromHex(byte[] bytes) {
    for (byte b : bytes) {
      if (b < 0 || !isText(new byte[] {b})) {
        return bytes;
      }
    }
    HexDump dump = new HexDump();
    ByteArrayOutputStream decoded = new ByteArrayOutputStream();
    for (String line : new String(bytes, StandardCharsets.US_ASCII).lines().toList()) {
      Optional<byte[]> found = dump.bytes(line);
      if (found.isPresent()) {
        decoded.writeBytes(found.get());
      } else if (HexDump.withoutPrefix(line).equals(line) && LogPattern.matching(line).isEmpty()) {
        throw new IllegalArgumentException(line);
      }
    }
    return decoded.toByteArray();
  }
}
