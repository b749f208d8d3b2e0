package dev.doorbell.ptxvm.parser;

import dev.doorbell.ptxvm.ir.Operand;
import java.util.Locale;

/** Number literals (PTX ISA, "Constants"). */
final class Literals {
  private Literals() {}

  static Operand parse(Token token) throws SyntaxException {
    String text = token.text();
    String lower = text.toLowerCase(Locale.ROOT);
    try {
      if (lower.startsWith("0f") && lower.length() == 10) {
        return new Operand.Single(Integer.parseUnsignedInt(lower.substring(2), 16));
      }
      if (lower.startsWith("0d") && lower.length() == 18) {
        return new Operand.Real(
            Double.longBitsToDouble(Long.parseUnsignedLong(lower.substring(2), 16)));
      }
      if (lower.startsWith("0x")) {
        return new Operand.Int(Long.parseUnsignedLong(unsuffixed(lower).substring(2), 16));
      }
      if (lower.indexOf('.') >= 0 || lower.indexOf('e') >= 0) {
        return new Operand.Real(Double.parseDouble(text));
      }
      String digits = unsuffixed(lower);
      if (digits.startsWith("0b")) {
        return new Operand.Int(Long.parseUnsignedLong(digits.substring(2), 2));
      }
      boolean octal = digits.length() > 1 && digits.charAt(0) == '0';
      return new Operand.Int(Long.parseUnsignedLong(digits, octal ? 8 : 10));
    } catch (NumberFormatException e) {
      throw new SyntaxException(token.line(), "'%s' is not a number".formatted(text));
    }
  }

  static Operand negate(Operand value) {
    return switch (value) {
      case Operand.Int(long bits) -> new Operand.Int(-bits);
      case Operand.Real(double real) -> new Operand.Real(-real);
      case Operand.Single(int bits) -> new Operand.Single(bits ^ 0x80000000);
      default -> value;
    };
  }

  private static String unsuffixed(String digits) {
    return digits.endsWith("u") ? digits.substring(0, digits.length() - 1) : digits;
  }
}
