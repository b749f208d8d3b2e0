package dev.doorbell.interop.access;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A secret by which a client proves that it may connect. It travels in clear text: it keeps out
 * other users of the machines, not those who can read the network.
 */
public final class AccessToken {
  /** The environment variable that holds it. */
  public static final String VARIABLE = "DOORBELL_HCA_TOKEN";

  private static final int RANDOM_BYTES = 24;
  private static final int MAX_BYTES = 4096;
  private static final Pattern LEGAL = Pattern.compile("[!-~]{16,256}");

  private final String text;

  private AccessToken(String text) {
    this.text = text;
  }

  /**
   * A token with this text.
   *
   * @throws IllegalArgumentException unless it has 16 to 256 printable characters of ASCII, no
   *     space
   */
  public static AccessToken of(String text) {
    if (!LEGAL.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "a token has 16 to 256 printable ASCII characters and no space");
    }
    return new AccessToken(text);
  }

  /** A new one of 192 random bits. */
  public static AccessToken random() {
    byte[] bytes = new byte[RANDOM_BYTES];
    new SecureRandom().nextBytes(bytes);
    return new AccessToken(Base64.getUrlEncoder().withoutPadding().encodeToString(bytes));
  }

  /**
   * The token in {@link #VARIABLE}, or null.
   *
   * @throws IllegalArgumentException when it is no legal token
   */
  public static @Nullable AccessToken ofEnvironment() {
    String text = System.getenv(VARIABLE);
    return text == null || text.isEmpty() ? null : of(text);
  }

  /**
   * Reads a file that nobody else can read.
   *
   * @throws IOException when it is missing, open to others, or holds no legal token
   */
  public static AccessToken read(Path file) throws IOException {
    PrivateFolder.checkFile(file);
    if (Files.size(file) > MAX_BYTES) {
      throw new IOException("%s is no token: it is too long".formatted(file));
    }
    try {
      return of(Files.readString(file, StandardCharsets.ISO_8859_1).strip());
    } catch (IllegalArgumentException e) {
      throw new IOException("%s: %s".formatted(file, e.getMessage()), e);
    }
  }

  /** Reads a token like {@link #read}; creates a missing file with a random one and mode 0600. */
  public static AccessToken readOrCreate(Path file) throws IOException {
    AccessToken fresh = random();
    try (var channel =
        Files.newByteChannel(
            file,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      channel.write(StandardCharsets.US_ASCII.encode(fresh.text + "\n"));
      return fresh;
    } catch (FileAlreadyExistsException _) {
      return read(file);
    }
  }

  /** Returns the text that a client sends. */
  public String text() {
    return text;
  }

  /** True for the same token. The time does not depend on how much of it is right. */
  public boolean matches(String candidate) {
    return MessageDigest.isEqual(digest(text), digest(candidate));
  }

  private static byte[] digest(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Does not show it. */
  @Override
  public String toString() {
    return "token";
  }
}
