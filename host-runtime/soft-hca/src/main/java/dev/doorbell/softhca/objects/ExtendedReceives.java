package dev.doorbell.softhca.objects;

/**
 * What an XRC receiver uses of a shared receive queue.
 *
 * @param queue itself
 * @param source of receive WQEs
 * @param completions of the queue's receives
 * @param domain of the queue, which keys have to be of
 */
public record ExtendedReceives(
    SoftSharedReceiveQueue queue,
    ReceiveSource source,
    Completions completions,
    ObjectOwner domain) {}
