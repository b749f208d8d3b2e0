package dev.doorbell.interop.shim.client;

import java.io.IOException;

/** The file that a program offers to share could become shorter while it is mapped. */
public final class UnsealedFileException extends IOException {
  private static final long serialVersionUID = 1L;

  UnsealedFileException(String path) {
    super(
        "%s is no file of memfd_create that is long enough and sealed against shrinking"
            .formatted(path));
  }
}
