package dev.doorbell.softhca.objects;

/**
 * What an XRC receiver uses of a shared receive queue.
 *
 * @param queue itself, to tell it from another one of its number
 * @param source of receive WQEs
 * @param completions of the queue's receives
 * @param domain of the queue, which keys have to be of
 */
public record ExtendedReceives(
    Object queue, ReceiveSource source, Completions completions, ObjectOwner domain) {}
