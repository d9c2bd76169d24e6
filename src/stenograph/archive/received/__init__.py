"""What an archive receives: the spool of requests, and the files of conversations that are made of them."""
