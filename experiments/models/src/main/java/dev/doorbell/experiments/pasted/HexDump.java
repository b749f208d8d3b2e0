package dev.doorbell.experiments.pasted;

import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Lines of hexadecimal digits as people paste them. Timestamps and heads of the kernel's log, mail
 * quotes, offsets, blanks, commas, {@code 0x}, and the characters beside the digits of xxd,
 * hexdump, tcpdump and DPDK are passed over.
 */
public final class HexDump {
  private static final Pattern PREFIX =
      Pattern.compile(
          "^(?:\u001b\\[[0-9;]*m|<\\d+>|\\[\\s*\\d+\\.\\d+\\]|\\[[A-Z][a-z]{2} [A-Z][a-z]{2}"
              + " [^\\]]*\\]|[A-Z][a-z]{2} +\\d+ [\\d:]{8} \\S+|\\d{4}-\\d\\d-\\d\\d[T"
              + " ]\\S+|kernel:|\\S+ kernel:|\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?(?= )|mlx5_\\w+"
              + " [0-9a-f:.]+:|>)\\s*");

  private static final Pattern OFFSET =
      Pattern.compile(
          "^\\s*(?:(?:0[xX][0-9a-fA-F]+ <[^>]*>|(?:\\w*\\+)?(?:0[xX])?[0-9a-fA-F]+):)?");
  private static final Pattern BLANKS = Pattern.compile(" {2,}");

  /** The offset of {@code hexdump -C} and Wireshark, which has no colon. */
  private static final Pattern BARE_OFFSET =
      Pattern.compile("^(?:[0-9a-fA-F]{7,}\\b|[0-9a-fA-F]{4}(?=\\s{2,}(?:[0-9a-fA-F]{2} ){4}))");

  private static final Pattern COLONS = Pattern.compile("(?:[0-9a-fA-F]{2}:){3,}[0-9a-fA-F]{2}");
  private static final Pattern FILLER = Pattern.compile("0[xX]|[\\s,;]");
  private static final Pattern DIGITS = Pattern.compile("(?:[0-9a-fA-F]{2})+");

  /** Bytes that stand in groups, so that no number of a sentence is taken for them. */
  private static final Pattern GROUP = Pattern.compile("(?:0[xX])?[0-9a-fA-F]{2,16}");

  private static final Pattern BETWEEN = Pattern.compile("[\\s,;]+");

  private static final int FEWEST = 8;

  /** No longer line has characters beside its bytes: xxd writes up to 256 bytes in one. */
  private static final int LONGEST = 1 << 10;

  private boolean dumped;

  /** Returns what is left of a line without the heads that logs put before it. */
  public static String withoutPrefix(String line) {
    String rest = line;
    Matcher prefix = PREFIX.matcher(rest);
    while (prefix.find()) {
      rest = rest.substring(prefix.end());
      prefix = PREFIX.matcher(rest);
    }
    return rest;
  }

  /**
   * Returns the bytes of a line: none where it is blank or a last offset; empty where it has other
   * than pairs of digits.
   */
  public Optional<byte[]> bytes(String line) {
    String rest = withoutPrefix(line);
    if (COLONS.matcher(rest.strip()).matches()) {
      rest = rest.replace(":", " ");
    }
    String left = withoutCharacters(rest);
    boolean lastOffset = dumped && BARE_OFFSET.matcher(rest).matches();
    dumped |= left.length() < rest.length();
    if (left.equals(rest)) {
      left = lastOffset ? "" : digits(rest);
    }
    return left.isEmpty() || DIGITS.matcher(left).matches()
        ? Optional.of(HexFormat.of().parseHex(left))
        : Optional.empty();
  }

  /** Returns the bytes of a line that is surely part of a dump; empty for any other line. */
  public static Optional<byte[]> sure(String line) {
    String rest = withoutPrefix(line);
    String plain = OFFSET.matcher(rest).replaceFirst("");
    int bar = plain.indexOf('|');
    String groups = (bar > 0 ? plain.substring(0, bar) : plain).strip();
    boolean colons = COLONS.matcher(rest.strip()).matches();
    return new HexDump()
        .bytes(line)
        .filter(bytes -> bytes.length >= FEWEST)
        .filter(
            _ ->
                colons
                    || areGroups(groups)
                    || !withoutCharacters(rest).equals(rest)
                    || (rest.length() > 4 * FEWEST && DIGITS.matcher(rest.strip()).matches()));
  }

  /** No expression for all of them: its stack would grow with the line. */
  private static boolean areGroups(String text) {
    String[] groups = BETWEEN.split(text);
    return groups.length > 2 && Stream.of(groups).allMatch(GROUP.asMatchPredicate());
  }

  private static String digits(String line) {
    String rest = OFFSET.matcher(line).replaceFirst("");
    if (rest.equals(line)) {
      Matcher bare = BARE_OFFSET.matcher(line);
      rest = bare.find() && bare.group().length() == 4 ? line.substring(bare.end()) : line;
    }
    return FILLER.matcher(rest).replaceAll("");
  }

  /** The digits of a line that has the characters of its bytes beside them; any other as it is. */
  private static String withoutCharacters(String line) {
    if (line.length() > LONGEST) {
      return line;
    }
    int bar = line.indexOf(" | ");
    if (bar > 0) {
      String digits = digits(line.substring(0, bar));
      if (DIGITS.matcher(digits).matches()) {
        return digits;
      }
    }
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
