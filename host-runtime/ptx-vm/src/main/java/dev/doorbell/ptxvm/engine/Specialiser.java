package dev.doorbell.ptxvm.engine;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Gives every opcode a class of its own from one template.
 *
 * <p>HotSpot profiles and inlines per method. A hundred opcodes that share one {@code execute}
 * would share one profile, and the call of the opcode's own function inside would be a second
 * indirect jump per instruction. So each opcode gets a copy of the template as a hidden class: the
 * copy sees one function only, which is inlined. A copy is made when an opcode is first decoded.
 */
final class Specialiser {
  private static final Map<String, Constructor<?>> COPIES = new ConcurrentHashMap<>();

  private Specialiser() {}

  /** A new operation of {@code template}'s copy for {@code key}, seen as what it extends. */
  static <T extends Op> T make(Class<? extends T> template, Class<T> as, String key) {
    Constructor<?> constructor =
        COPIES.computeIfAbsent(template.getName() + ' ' + key, name -> copy(template));
    try {
      return as.cast(constructor.newInstance());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(template.getName(), e);
    }
  }

  private static Constructor<?> copy(Class<?> template) {
    String resource = template.getName().substring(template.getPackageName().length() + 1);
    try (InputStream bytes = template.getResourceAsStream(resource + ".class")) {
      if (bytes == null) {
        throw new IllegalStateException("the class file of " + template + " is missing");
      }
      return MethodHandles.lookup()
          .defineHiddenClass(bytes.readAllBytes(), false)
          .lookupClass()
          .getDeclaredConstructor();
    } catch (IOException | ReflectiveOperationException e) {
      throw new IllegalStateException(template.getName(), e);
    }
  }
}
