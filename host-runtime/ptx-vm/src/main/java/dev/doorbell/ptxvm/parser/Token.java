package dev.doorbell.ptxvm.parser;

/**
 * A token of PTX.
 *
 * @param text a word without its leading dot, a number as written, a string without its quotes
 * @param line from 1
 * @param joined no white space before it
 */
record Token(Kind kind, String text, int line, boolean joined) {
  enum Kind {
    /** A name, possibly beginning with % or $. */
    NAME,
    /** A word after a dot: a directive, a modifier, a component. */
    DOT,
    NUMBER,
    STRING,
    /** One character. */
    SYMBOL,
    END
  }

  boolean is(String symbol) {
    return kind == Kind.SYMBOL && text.equals(symbol);
  }

  boolean dot(String word) {
    return kind == Kind.DOT && text.equals(word);
  }

  @Override
  public String toString() {
    return switch (kind) {
      case DOT -> "'." + text + "'";
      case STRING -> "\"" + text + "\"";
      case END -> "the end of the file";
      default -> "'" + text + "'";
    };
  }
}
