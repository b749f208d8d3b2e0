package dev.doorbell.experiments.cli.decode;

import dev.doorbell.core.pcap.CaptureReader;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.UsageException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The bytes to decode: binary, a capture, or hexadecimal digits as people paste them - blanks, line
 * breaks, commas, {@code 0x}, offsets, and the characters beside them of xxd and hexdump are passed
 * over. Other text is refused.
 */
final class DecodeInput {
  private static final Pattern OFFSET =
      Pattern.compile("^\\s*(?:(?:\\w*\\+)?(?:0[xX])?[0-9a-fA-F]+:)?");
  private static final Pattern BLANKS = Pattern.compile(" {2,}");

  /** The offset of {@code hexdump -C}, which has no colon. */
  private static final Pattern BARE_OFFSET = Pattern.compile("^[0-9a-fA-F]{7,}\\b");

  private static final Pattern FILLER = Pattern.compile("0[xX]|[\\s,;]");
  private static final Pattern DIGITS = Pattern.compile("(?:[0-9a-fA-F]{2})+");

  /** What is decoded lies in memory whole, and each packet of it once more. */
  private static final long MOST_BYTES = Math.min(1L << 30, Runtime.getRuntime().maxMemory() / 4);

  private DecodeInput() {}

  /**
   * Reads a file, or standard input for {@code -}.
   *
   * @throws UsageException when it cannot be read or holds nothing
   */
  static byte[] read(String name, InputStream standardInput) throws UsageException {
    byte[] bytes;
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
      bytes = name.equals("-") ? standardInput.readAllBytes() : Files.readAllBytes(Path.of(name));
    } catch (IOException e) {
      throw new UsageException(
          Problem.of("DB-U020", name, reason(e)).fix("name a file, or - for standard input"));
    }
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
              .fix("give bytes, hexadecimal digits as of xxd or hexdump -C, or a capture"));
    }
    if (decoded.length == 0) {
      throw new UsageException(
          Problem.of("DB-U021", name, "there is nothing to decode")
              .fix("give bytes, hexadecimal digits, or a capture"));
    }
    return decoded;
  }

  private static String reason(IOException e) {
    return switch (e) {
      case NoSuchFileException _ -> "there is no such file";
      case AccessDeniedException _ -> "there is no permission to read it";
      default -> "cannot be read: " + e.getMessage();
    };
  }

  /**
   * The bytes that text spells, or the bytes themselves when they are no text.
   *
   * @throws IllegalArgumentException for text that spells none, with its first such line
   */
  static byte[] fromHex(byte[] bytes) {
    for (byte b : bytes) {
      boolean text = b >= ' ' && b < 0x7f;
      if (!text && b != '\n' && b != '\r' && b != '\t') {
        return bytes;
      }
    }
    StringBuilder digits = new StringBuilder();
    boolean dumped = false;
    for (String line : new String(bytes, StandardCharsets.US_ASCII).lines().toList()) {
      String left = withoutCharacters(line);
      boolean lastOffset = dumped && BARE_OFFSET.matcher(line).matches();
      dumped |= left.length() < line.length();
      if (left.equals(line)) {
        left = lastOffset ? "" : digits(line);
      }
      if (!left.isEmpty() && !DIGITS.matcher(left).matches()) {
        throw new IllegalArgumentException(line);
      }
      digits.append(left);
    }
    return HexFormat.of().parseHex(digits);
  }

  private static String digits(String line) {
    return FILLER.matcher(OFFSET.matcher(line).replaceFirst("")).replaceAll("");
  }

  /**
   * The digits of a line of {@code xxd} or {@code hexdump -C}, which has as many characters behind
   * two blanks as bytes before; any other line as it is.
   */
  private static String withoutCharacters(String line) {
    Matcher blanks = BLANKS.matcher(line);
    while (blanks.find()) {
      String before = line.substring(0, blanks.start());
      String behind = line.substring(blanks.end());
      boolean bars = behind.startsWith("|") && behind.endsWith("|") && behind.length() > 1;
      String digits = digits(bars ? BARE_OFFSET.matcher(before).replaceFirst("") : before);
      int characters = behind.length() - (bars ? 2 : 0);
      if (2 * characters == digits.length() && DIGITS.matcher(digits).matches()) {
        return digits;
      }
    }
    return line;
  }
}
