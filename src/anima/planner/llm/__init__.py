"""Language models behind one asynchronous interface: llama.cpp in this process, or an OpenAI-compatible server."""
