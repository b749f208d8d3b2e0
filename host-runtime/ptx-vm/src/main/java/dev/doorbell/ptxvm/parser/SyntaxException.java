package dev.doorbell.ptxvm.parser;

/** PTX that cannot be understood; becomes a refusal of its line. */
final class SyntaxException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int line;

  SyntaxException(int line, String message) {
    super(message);
    this.line = line;
  }

  int line() {
    return line;
  }
}
