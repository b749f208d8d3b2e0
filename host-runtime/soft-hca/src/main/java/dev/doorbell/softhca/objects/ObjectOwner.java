package dev.doorbell.softhca.objects;

/** The protection domain that objects belong to. Two objects fit if they have the same one. */
public interface ObjectOwner {
  interface Owned extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * An object of the domain is being closed.
   *
   * @throws dev.doorbell.core.hca.HcaException if another object still needs it
   */
  void closing(Owned object);
}
