"""A tiny GPT-2, built and not downloaded, with the Trainer of Hugging Face. ``own`` resumes from its own checkpoints."""

import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

OWN = "own" in sys.argv


class Tokens(Dataset):
    """Sequences of tokens; each time that one is read, one of its tokens is another."""

    def __len__(self):
        return 64

    def __getitem__(self, index):
        tokens = (torch.arange(12) * (index + 3)) % 50
        tokens[int(torch.randint(12, ()))] = 7
        return {"input_ids": tokens, "labels": tokens}


torch.manual_seed(5)
model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=16, n_embd=16, n_layer=2, n_head=2))
arguments = TrainingArguments(
    "out", num_train_epochs=5, per_device_train_batch_size=8, save_strategy="steps" if OWN else "no",
    save_steps=4, logging_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True, seed=5,
)  # fmt: skip
trainer = Trainer(model, arguments, train_dataset=Tokens())
if OWN:
    last = get_last_checkpoint("out") if os.path.isdir("out") else None
    trainer.train(resume_from_checkpoint=last)
else:
    from twice.integrations.checkpoints import huggingface

    huggingface.train(trainer, every=4)
torch.save(model.state_dict(), "final.pt")
