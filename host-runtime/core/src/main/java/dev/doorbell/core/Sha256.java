package dev.doorbell.core;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 of texts and files. */
public final class Sha256 {
  private Sha256() {}

  public static byte[] of(byte[] bytes) {
    return digest().digest(bytes);
  }

  /** Returns a digest of bytes that are still to come. */
  public static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** Returns the hash of a text in UTF-8, in hexadecimal digits. */
  public static String hex(String text) {
    return hex(text.getBytes(StandardCharsets.UTF_8));
  }

  public static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(of(bytes));
  }
}
