package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.config.value.Sizes;
import dev.doorbell.experiments.results.print.Units;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelReport;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelRun.Argument;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The texts of {@code --arg}: buffers from and to files, and values. */
final class KernelArguments {
  private static final List<String> BUFFERS = List.of("in", "out", "inout", "zero", "multicast");
  private static final List<String> TYPES =
      List.of(
          "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "b8", "b16", "b32", "b64", "f16",
          "f32", "f64");
  private static final List<String> BYTES = List.of("hex", "value");
  private static final Pattern ZEROS = Pattern.compile("([0-9]{1,2})x([0-9]+[KMG]?)");
  private static final String HELP =
      "in:FILE, out:FILE:BYTES, inout:FILE, zero:BYTES, multicast:4xBYTES, multicast:FILE,FILE,"
          + " u32:5 (u8 to u64, s8 to s64, f16, f32, f64), hex:BYTES or value:FILE";

  private KernelArguments() {}

  record Parsed(Argument argument, Optional<Path> output) {
    boolean isResult() {
      return !(argument instanceof Argument.Scalar) && !argument.text().startsWith("in:");
    }
  }

  static Parsed parse(String text) throws UsageException {
    int colon = text.indexOf(':');
    String kind = colon < 0 ? text : text.substring(0, colon);
    String rest = colon < 0 ? "" : text.substring(colon + 1);
    List<String> known = new ArrayList<>(BUFFERS);
    known.addAll(TYPES);
    known.addAll(BYTES);
    if (!known.contains(kind)) {
      throw bad(
          text, "'%s' is no kind of argument%s".formatted(kind, Nearest.suggestion(kind, known)));
    }
    if (rest.isEmpty()) {
      throw bad(text, "there is nothing behind '%s:'".formatted(kind));
    }
    return switch (kind) {
      case "in" -> buffer(text, KernelFiles.bytes(text, rest), Optional.empty());
      case "inout" -> buffer(text, KernelFiles.bytes(text, rest), Optional.of(Path.of(rest)));
      case "zero" -> buffer(text, new byte[size(text, rest)], Optional.empty());
      case "out" -> {
        int last = rest.lastIndexOf(':');
        if (last < 1) {
          throw bad(text, "an output needs its size: out:FILE:BYTES");
        }
        yield buffer(
            text,
            new byte[size(text, rest.substring(last + 1))],
            Optional.of(Path.of(rest.substring(0, last))));
      }
      case "multicast" -> multicast(text, rest);
      case "hex" -> value(text, hex(text, rest));
      case "value" -> value(text, KernelFiles.bytes(text, rest));
      default -> value(text, scalar(text, kind, rest));
    };
  }

  private static Parsed buffer(String text, byte[] initial, Optional<Path> output)
      throws UsageException {
    if (initial.length == 0) {
      throw bad(text, "a buffer of no bytes");
    }
    return new Parsed(new Argument.Buffer(text, initial), output);
  }

  /** Members of a multicast object: as many of zeros, {@code 4x1K}, or what files hold. */
  private static Parsed multicast(String text, String rest) throws UsageException {
    List<byte[]> members = new ArrayList<>();
    Matcher zeros = ZEROS.matcher(rest);
    if (zeros.matches()) {
      int size = size(text, zeros.group(2));
      for (int i = 0; i < Integer.parseInt(zeros.group(1)); i++) {
        members.add(new byte[size]);
      }
    } else {
      for (String file : rest.split(",", -1)) {
        members.add(KernelFiles.bytes(text, file));
      }
    }
    if (members.isEmpty() || members.stream().anyMatch(member -> member.length == 0)) {
      throw bad(text, "a multicast object of no bytes");
    }
    if (members.stream().anyMatch(member -> member.length != members.getFirst().length)) {
      throw bad(text, "members of a multicast object are of one size");
    }
    return new Parsed(new Argument.Multicast(text, members), Optional.empty());
  }

  private static Parsed value(String text, byte[] bytes) {
    return new Parsed(new Argument.Scalar(text, bytes), Optional.empty());
  }

  private static int size(String text, String size) throws UsageException {
    OptionalLong bytes = Sizes.parse(size);
    if (bytes.isEmpty()) {
      throw bad(text, "'%s' is no number of bytes; 64, 4K and 1M are".formatted(size));
    }
    if (bytes.getAsLong() > KernelFiles.MOST_BYTES) {
      throw bad(text, "at most 1 GiB fits a buffer");
    }
    return (int) bytes.getAsLong();
  }

  private static byte[] hex(String text, String digits) throws UsageException {
    try {
      return HexFormat.of().parseHex(digits.replace("_", ""));
    } catch (IllegalArgumentException _) {
      throw bad(text, "'%s' are no bytes in hexadecimal".formatted(digits));
    }
  }

  private static byte[] scalar(String text, String type, String value) throws UsageException {
    int bits = Integer.parseInt(type.substring(1));
    try {
      return switch (type) {
        case "f16" -> bytes(Float.floatToFloat16(Float.parseFloat(value)), 16);
        case "f32" -> bytes(Float.floatToRawIntBits(Float.parseFloat(value)), 32);
        case "f64" -> bytes(Double.doubleToRawLongBits(Double.parseDouble(value)), 64);
        default -> integer(text, type.charAt(0), bits, value);
      };
    } catch (NumberFormatException _) {
      throw bad(text, "'%s' is no number".formatted(value));
    }
  }

  private static byte[] integer(String text, char kind, int bits, String value)
      throws UsageException {
    String digits = value.replace("_", "");
    boolean negative = digits.startsWith("-");
    String magnitude = negative ? digits.substring(1) : digits;
    BigInteger number =
        magnitude.startsWith("0x")
            ? new BigInteger(magnitude.substring(2), 16)
            : new BigInteger(magnitude);
    number = negative ? number.negate() : number;
    int most = kind == 's' && !magnitude.startsWith("0x") ? bits - 1 : bits;
    boolean fits =
        number.signum() < 0
            ? kind != 'u' && number.bitLength() <= bits - 1
            : number.bitLength() <= most;
    if (!fits) {
      throw bad(text, "%s does not fit %d bits".formatted(value, bits));
    }
    return bytes(number.longValue(), bits);
  }

  private static byte[] bytes(long value, int bits) {
    byte[] bytes = new byte[bits / Byte.SIZE];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (value >>> (i * Byte.SIZE));
    }
    return bytes;
  }

  private static UsageException bad(String text, String what) {
    return UsageException.of("DB-K004", "--arg " + text, what, HELP);
  }

  static void check(KernelReport.Entry entry, List<Parsed> arguments) throws UsageException {
    List<KernelReport.Parameter> parameters = entry.parameters();
    if (arguments.size() != parameters.size()) {
      List<String> names = parameters.stream().map(p -> "." + p.type() + " " + p.name()).toList();
      throw UsageException.of(
          "DB-K005",
          null,
          "entry %s takes %s, %s given"
              .formatted(
                  entry.name(),
                  Units.count(parameters.size(), "parameter"),
                  arguments.size() == 1 ? "1 is" : arguments.size() + " are"),
          names.isEmpty()
              ? "leave --arg out"
              : "one --arg for each of " + String.join(", ", names));
    }
    for (int i = 0; i < arguments.size(); i++) {
      Argument argument = arguments.get(i).argument();
      KernelReport.Parameter parameter = parameters.get(i);
      long bytes = argument instanceof Argument.Scalar scalar ? scalar.bytes().length : Long.BYTES;
      if (bytes != parameter.bytes()) {
        throw UsageException.of(
            "DB-K006",
            "--arg " + argument.text(),
            "%s has %d bytes, and parameter %d, .%s %s, has %d"
                .formatted(
                    argument instanceof Argument.Scalar ? "it" : "an address",
                    bytes,
                    i + 1,
                    parameter.type(),
                    parameter.name(),
                    parameter.bytes()),
            advice(argument, parameter));
      }
    }
  }

  private static String advice(Argument argument, KernelReport.Parameter parameter) {
    if (!List.of(1L, 2L, 4L, 8L).contains(parameter.bytes())) {
      return "hex:BYTES or value:FILE with %d bytes".formatted(parameter.bytes());
    }
    char kind = argument.text().charAt(0);
    String type = (kind == 's' || kind == 'f' ? kind : 'u') + "" + parameter.bytes() * Byte.SIZE;
    return "%s:VALUE".formatted(type);
  }
}
