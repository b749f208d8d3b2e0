package dev.doorbell.ptxvm.engine.decode;

import dev.doorbell.ptxvm.engine.machine.Op;
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
public final class Specialiser {
  private static final Map<String, Constructor<?>> COPIES = new ConcurrentHashMap<>();

  private Specialiser() {}

  /**
   * A new operation of {@code template}'s copy for {@code key}, seen as what it extends.
   *
   * @param lookup of a class in the template's package
   */
  public static <T extends Op> T make(
      MethodHandles.Lookup lookup, Class<? extends T> template, Class<T> as, String key) {
    Constructor<?> constructor =
        COPIES.computeIfAbsent(template.getName() + ' ' + key, name -> copy(lookup, template));
    try {
      return as.cast(constructor.newInstance());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(template.getName(), e);
    }
  }

  private static Constructor<?> copy(MethodHandles.Lookup lookup, Class<?> template) {
    String resource = template.getName().substring(template.getPackageName().length() + 1);
    try (InputStream bytes = template.getResourceAsStream(resource + ".class")) {
      if (bytes == null) {
        throw new IllegalStateException("the class file of " + template + " is missing");
      }
      Constructor<?> constructor =
          lookup
              .defineHiddenClass(bytes.readAllBytes(), false)
              .lookupClass()
              .getDeclaredConstructor();
      constructor.setAccessible(true);
      return constructor;
    } catch (IOException | ReflectiveOperationException e) {
      throw new IllegalStateException(template.getName(), e);
    }
  }
}
