package dev.doorbell.core.adapter;

/**
 * An adapter that does not exist, or whose file is wrong; the message says where and what to do.
 */
public final class AdapterException extends Exception {
  private static final long serialVersionUID = 1L;

  private final String fix;

  AdapterException(String message, String fix) {
    super(message);
    this.fix = fix;
  }

  public String fix() {
    return fix;
  }
}
