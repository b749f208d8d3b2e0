package dev.doorbell.ptxvm.engine.ops.control;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.IllegalFormatException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * {@code vprintf(format, arguments)}. The arguments lie packed as C passes them to a variadic
 * function: 4 or 8 bytes each, at multiples of their size; floats are doubles.
 */
final class Print extends Op {
  private final long format;
  private final long arguments;
  private final long result;

  Print(long format, long arguments, long result) {
    this.format = format;
    this.arguments = arguments;
    this.result = result;
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    long frame = t.localBase + t.frame;
    AddressSpace memory = t.grid.memory;
    String text = CString.read(memory, RawMemory.getLong(frame + format));
    Arguments values = new Arguments(memory, RawMemory.getLong(frame + arguments));
    t.polling.acted();
    t.grid.print(format(text, values));
    RawMemory.putInt(frame + result, values.count);
    return next;
  }

  private static final class Arguments {
    private final AddressSpace memory;
    private long at;
    private int count;

    Arguments(AddressSpace memory, long at) {
      this.memory = memory;
      this.at = at;
    }

    long next(int bytes) {
      at = (at + bytes - 1) & -bytes;
      if (!memory.accessible(at, bytes)) {
        throw memory.fault("read of a printf argument", at, bytes);
      }
      long value = RawMemory.get(at, bytes);
      at += bytes;
      count++;
      return value;
    }
  }

  private static String format(String text, Arguments arguments) {
    StringBuilder out = new StringBuilder();
    int i = 0;
    while (i < text.length()) {
      char c = text.charAt(i++);
      if (c != '%' || i == text.length()) {
        out.append(c);
        continue;
      }
      int start = i;
      while (i < text.length() && "-+ #0123456789.*".indexOf(text.charAt(i)) >= 0) {
        i++;
      }
      int lengthStart = i;
      while (i < text.length() && "hljztL".indexOf(text.charAt(i)) >= 0) {
        i++;
      }
      if (i == text.length()) {
        out.append(text, start - 1, i);
        break;
      }
      String length = text.substring(lengthStart, i);
      out.append(convert(text.substring(start, lengthStart), length, text.charAt(i++), arguments));
    }
    return out.toString();
  }

  private static String convert(String flags, String length, char kind, Arguments arguments) {
    String options = flags;
    while (options.indexOf('*') >= 0) {
      options = options.replaceFirst("\\*", Integer.toString((int) arguments.next(4)));
    }
    boolean wide =
        length.contains("l")
            || length.contains("j")
            || length.contains("z")
            || length.contains("t");
    try {
      return switch (kind) {
        case '%' -> "%";
        case 'd', 'i' -> integer(options, wide ? arguments.next(8) : (int) arguments.next(4));
        case 'u' -> unsigned(options, arguments.next(wide ? 8 : 4));
        case 'x', 'X', 'o' -> radix(options, kind, arguments.next(wide ? 8 : 4));
        case 'p' -> "0x" + Long.toHexString(arguments.next(8));
        case 'c' -> Character.toString((char) (arguments.next(4) & 0xff));
        case 's' ->
            String.format(
                Locale.ROOT,
                "%" + plain(options) + "s",
                CString.read(arguments.memory, arguments.next(8)));
        case 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A' ->
            real(options, kind, Double.longBitsToDouble(arguments.next(8)));
        default -> "%" + options + length + kind;
      };
    } catch (IllegalFormatException e) {
      return "%" + options + length + kind;
    }
  }

  /** Java refuses a precision for integers and '0' beside '-'; C ignores or pads. */
  private static String integer(String options, long value) {
    return pad(options, precise(options, Long.toString(Math.abs(value))), value < 0);
  }

  private static String unsigned(String options, long value) {
    return pad(options, precise(options, Long.toUnsignedString(value)), false);
  }

  private static String radix(String options, char kind, long value) {
    String digits = kind == 'o' ? Long.toOctalString(value) : Long.toHexString(value);
    digits = precise(options, digits);
    if (options.indexOf('#') >= 0 && value != 0) {
      digits = (kind == 'o' ? "0" : "0x") + digits;
    }
    String text = pad(options.replace("+", "").replace(" ", ""), digits, false);
    return kind == 'X' ? text.toUpperCase(Locale.ROOT) : text;
  }

  private static String precise(String options, String digits) {
    int dot = options.indexOf('.');
    int least = dot < 0 || dot + 1 == options.length() ? 0 : number(options.substring(dot + 1));
    return "0".repeat(Math.max(0, least - digits.length())) + digits;
  }

  private static String pad(String options, String digits, boolean negative) {
    String sign =
        negative ? "-" : options.indexOf('+') >= 0 ? "+" : options.indexOf(' ') >= 0 ? " " : "";
    int dot = options.indexOf('.');
    String before = dot < 0 ? options : options.substring(0, dot);
    String flags = before.replaceFirst("[1-9][0-9]*$", "");
    String width = before.substring(flags.length());
    int missing = (width.isEmpty() ? 0 : number(width)) - sign.length() - digits.length();
    String fill = " ".repeat(Math.max(0, missing));
    if (flags.indexOf('-') >= 0) {
      return sign + digits + fill;
    }
    return flags.indexOf('0') >= 0 && dot < 0
        ? sign + fill.replace(' ', '0') + digits
        : fill + sign + digits;
  }

  private static String real(String options, char kind, double value) {
    if (!Double.isFinite(value)) {
      String word = Double.isNaN(value) ? "nan" : "inf";
      return pad(options.replaceAll("[0.].*", ""), word, value < 0);
    }
    char lower = Character.toLowerCase(kind);
    if (lower == 'g') {
      String text = shortest(options, value);
      return Character.isUpperCase(kind) ? text.toUpperCase(Locale.ROOT) : text;
    }
    String shape = "%" + options.replace("#", "") + (lower == 'f' ? 'f' : kind);
    return String.format(Locale.ROOT, shape, value);
  }

  /** C's {@code %g}: the shorter of %e and %f, without trailing zeros. */
  private static String shortest(String options, double value) {
    int dot = options.indexOf('.');
    int precision = dot < 0 ? 6 : Math.max(1, number(options.substring(dot + 1)));
    String scientific = String.format(Locale.ROOT, "%." + (precision - 1) + "e", value);
    int exponent = Integer.parseInt(scientific.substring(scientific.indexOf('e') + 1));
    boolean fixed = value == 0 || (exponent >= -4 && exponent < precision);
    String text =
        fixed
            ? String.format(Locale.ROOT, "%." + Math.max(0, precision - 1 - exponent) + "f", value)
            : scientific;
    int mantissa = fixed ? text.length() : text.indexOf('e');
    String digits = text.substring(0, mantissa);
    if (digits.indexOf('.') >= 0) {
      digits = digits.replaceFirst("0+$", "").replaceFirst("\\.$", "");
    }
    String all = digits + text.substring(mantissa);
    boolean negative = all.startsWith("-");
    return pad(
        dot < 0 ? options : options.substring(0, dot), negative ? all.substring(1) : all, negative);
  }

  private static int number(String digits) {
    String only = digits.replaceAll("[^0-9].*", "");
    return only.isEmpty() ? 0 : Math.min(Integer.parseInt(only), 1000);
  }

  private static String plain(String options) {
    return options.replace("0", "").replace("+", "").replace(" ", "").replace("#", "");
  }

  /** Zero-terminated strings of a kernel. */
  static final class CString {
    private static final int LONGEST = 1 << 16;

    private CString() {}

    /** Reads a string; every byte is checked. */
    static String read(AddressSpace memory, long address) {
      byte[] bytes = new byte[64];
      int length = 0;
      while (length < LONGEST) {
        if (!memory.accessible(address + length, 1)) {
          throw memory.fault("read of a string", address + length, 1);
        }
        byte b = RawMemory.getByte(address + length);
        if (b == 0) {
          break;
        }
        if (length == bytes.length) {
          bytes = Arrays.copyOf(bytes, length * 2);
        }
        bytes[length++] = b;
      }
      return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
  }
}
