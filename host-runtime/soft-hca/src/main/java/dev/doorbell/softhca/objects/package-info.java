/**
 * The objects of an HCA that verbs create and both halves of queue pairs use: regions and their
 * keys, completion queues, receive queues, doorbell pages, on-chip memory, and the context of a
 * queue pair, which is all that a half may ask of it.
 */
@NullMarked
package dev.doorbell.softhca.objects;

import org.jspecify.annotations.NullMarked;
